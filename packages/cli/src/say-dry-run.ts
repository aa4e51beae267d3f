import type { Affected, DryRunReport } from '@repertoire/sdk'
import { safeLine } from './safe-text.ts'
import { count } from './say-count.ts'
import { layoutPairs, layoutTable } from './table.ts'

/** What a dry run was of, and how wide the text may be. */
export type DryRunText = { readonly what: string; readonly width: number | undefined }

const mostRows = 20

/** Says what a command would do: what it changes, then everybody it concerns, those with most calls first. */
export function sayDryRun(report: DryRunReport, { what, width }: DryRunText): string {
  const loses = report.unreachable.filter(({ from }) => from !== null)
  const lacks = report.unreachable.filter(({ from }) => from === null)
  const section = (title: string, affected: readonly Affected[]): string =>
    affected.length === 0 ? '' : saySection(report, { title, affected, width })
  return [
    `${safeLine(what)}${report.would_change ? '' : ': nothing would change'}\n${sayChanges(report)}`,
    report.would_move.length > 0 ? '' : 'nobody would get another version\n',
    section('would get another version', report.would_move),
    section('would be denied', report.would_be_denied),
    section('would get no version any more', loses),
    section('would get no version, as before', lacks),
    section('would stay, being pinned to an exact version', report.exact_pins_not_moved),
    report.calls_known ? '' : 'the call log could not be asked: only declared ranges are counted here\n',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function sayChanges(report: DryRunReport): string {
  return layoutPairs([
    ...report.versions.map(({ version, from, to }) => [`version ${version}`, `${from ?? '—'} → ${to}`] as const),
    ...report.lines.map(({ line, from, to }) => [`line ${line}`, `serves ${to ?? 'nothing'} (now: ${from ?? 'nothing'})`] as const),
    ...report.rollouts.map((rollout) => [`rollout of ${rollout.version}`, sayRollout(rollout)] as const),
    ['selected units', sayUnits(report)],
  ])
}

function sayRollout({ state, percent }: DryRunReport['rollouts'][number]): string {
  return state === 'scheduled' || state === 'running' || state === 'paused' ? `${state}, at ${percent} %` : state.replace('_', ' ')
}

// A command that ends a rollout sets no share, whatever else it touches.
function sayUnits({ rollouts, selected_units: selected, population }: DryRunReport): string | undefined {
  if (population === null || !rollouts.some(({ state }) => state === 'running' || state === 'scheduled')) return undefined
  return selected === null ? `not to be counted beforehand, of ${count(population, 'agent')}` : `${selected} of ${population}`
}

type Section = { readonly title: string; readonly affected: readonly Affected[]; readonly width: number | undefined }

function saySection({ calls_known: isKnown }: DryRunReport, { title, affected, width }: Section): string {
  const agents = new Set(affected.map(({ agent }) => agent)).size
  const calls = affected.reduce((sum, entry) => sum + entry.calls_7d, 0)
  const sorted = [...affected].sort((a, b) => b.calls_7d - a.calls_7d || (a.agent < b.agent ? -1 : 1))
  const hasReasons = affected.some(({ reason }) => reason !== null)
  const rows = sorted.slice(0, mostRows).map((entry) => {
    const cells = [entry.agent, entry.range, entry.from ?? 'nothing', entry.to ?? 'nothing', isKnown ? String(entry.calls_7d) : '?']
    return hasReasons ? [...cells, entry.reason ?? ''] : cells
  })
  const head = ['AGENT', 'RANGE', 'FROM', 'TO', 'CALLS']
  const table = layoutTable({ head: hasReasons ? [...head, 'WHY'] : head, rows, overflow: 'wrap' }, width)
  const more = sorted.length > mostRows ? `and ${sorted.length - mostRows} more; --dry-run --json lists all\n` : ''
  return `${count(agents, 'agent')} ${title}${isKnown ? `, with ${count(calls, 'call')} in 7 days` : ''}\n${table}${more}`
}
