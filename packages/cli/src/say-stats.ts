import type { CallStats, Comparison, RefusalStats } from '@repertoire/sdk'
import { layoutPairs, layoutTable } from './table.ts'

/** A list of what was counted, as the registry answers it. */
export type Counted<T> = { readonly items: readonly T[]; readonly cut: boolean }

const dimensions = ['skill', 'version', 'agent', 'arm', 'outcome', 'error_code'] as const

/** Counted calls as a table, one column for each thing they were counted by. */
export function sayCallStats({ items }: CallStats, width: number | undefined): string {
  const [first] = items
  if (first === undefined) return ''
  const shown = dimensions.filter((name) => first[name] !== undefined)
  const head = [...(first.at === undefined ? [] : ['TIME (UTC)']), ...shown.map((name) => name.toUpperCase().replace('_', ' '))]
  return layoutTable(
    {
      head: [...head, 'CALLS', 'ERRORS', 'FAILED', 'P50 MS', 'P95 MS', 'P99 MS'],
      rows: items.map((item) => [
        ...(item.at === undefined ? [] : [sayMinute(item.at)]),
        ...shown.map((name) => item[name] ?? '-'),
        String(item.calls),
        sayPart(item.error_rate),
        item.failure_rate === null ? '-' : sayPart(item.failure_rate),
        ...[item.p50_ms, item.p95_ms, item.p99_ms].map(sayMs),
      ]),
    },
    width,
  )
}

/** Refusals as a table, one column for each thing they were counted by. */
export function sayRefusals({ items }: RefusalStats, width: number | undefined): string {
  const [first] = items
  if (first === undefined) return ''
  const hasTime = first.at !== undefined
  const shown = (['agent', 'code'] as const).filter((name) => first[name] !== undefined)
  return layoutTable(
    {
      head: [...(hasTime ? ['TIME (UTC)'] : []), ...shown.map((name) => name.toUpperCase()), 'REFUSALS'],
      rows: items.map((item) => [
        ...(hasTime ? [sayMinute(item.at)] : []),
        ...shown.map((name) => item[name] ?? '-'),
        String(item.refusals),
      ]),
    },
    width,
  )
}

/** A list as a table. */
export function sayCounted(
  { head, rows }: { readonly head: readonly string[]; readonly rows: readonly (readonly (string | number | null)[])[] },
  width: number | undefined,
): string {
  return rows.length === 0 ? '' : layoutTable({ head, rows: rows.map((row) => row.map((cell) => String(cell ?? '-'))) }, width)
}

/** A comparison: both sides, what differs and within which range, and what may be said of it. */
export function sayComparison(comparison: Comparison, width: number | undefined): string {
  const { a, b, unit, skill, failure_rate: failure, mean_ms: mean, randomised, units_in_both: crossed, least_units: least } = comparison
  const side = (name: string, of: Comparison['a']): string[] => [
    name,
    of.version ?? '-',
    String(of.units),
    String(of.calls),
    of.failure_rate === null ? '-' : sayPart(of.failure_rate),
    sayMs(of.mean_ms),
  ]
  const range = (of: Comparison['mean_ms'], say: (value: number) => string): string =>
    of.low === null || of.high === null || of.difference === null ? '-' : `${say(of.difference)} (${say(of.low)} to ${say(of.high)})`
  const verdicts = {
    higher: 'higher',
    lower: 'lower',
    no_difference_seen: 'no difference seen',
    too_few_units: `too few units: ${least} on each side are needed`,
  } as const
  return [
    layoutTable({ head: ['', 'VERSION', `UNITS (${unit})`, 'CALLS', 'FAILED', 'MEAN MS'], rows: [side('a', a), side('b', b)] }, width),
    layoutPairs([
      ['skill', skill],
      ['failures, b less a', `${range(failure, sayPart)}: ${verdicts[failure.verdict]}`],
      ['mean ms, b less a', `${range(mean, sayMs)}: ${verdicts[mean.verdict]}`],
      ['units in both', crossed === 0 ? undefined : String(crossed)],
      ['remark', randomised ? undefined : 'nobody drew who calls which: a difference need not be the version’s'],
    ]),
  ].join('\n')
}

function sayMinute(at: string | undefined): string {
  return at === undefined ? '-' : at.slice(0, 16).replace('T', ' ')
}

function sayPart(part: number): string {
  return `${(part * 100).toFixed(part !== 0 && Math.abs(part) < 0.1 ? 2 : 1)}%`
}

function sayMs(ms: number | null): string {
  return ms === null ? '-' : ms >= 100 ? String(Math.round(ms)) : ms.toFixed(1)
}
