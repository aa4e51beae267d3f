import { errorCatalogue } from '@repertoire/contract/sdk'
import { safeLine } from '../safe-text.ts'
import { count } from '../say-count.ts'
import { placeOf } from '../say-findings.ts'
import type { FolderOutcome, ImportReport } from './outcome.ts'

const examplesShown = 3
const meanings: Readonly<Record<string, { readonly meaning: string }>> = errorCatalogue

/** Says how an import went: the counts, what was refused by reason, and every folder that was refused. */
export function sayImport(report: ImportReport): string {
  const { counts, folders } = report
  const refused = folders.filter((folder) => folder.result === 'refused')
  const unreleased = folders.filter((folder) => folder.result !== 'refused' && folder.result !== 'not_reached' && folder.reason !== null)
  const twins = folders.filter((folder) => folder.same_as !== null)
  return [
    sayCounts(report),
    twins.length === 0
      ? ''
      : `${count(twins.length, 'folder')} held the same bytes as an earlier one, such as ${safeLine(twins[0]?.folder ?? '')} (like ${safeLine(twins[0]?.same_as ?? '')})\n`,
    sayReasons('refused, by reason', refused),
    refused.length === 0 ? '' : `each refused folder, and its first reason\n${refused.map(sayFolder).join('')}`,
    sayReasons('published but not released, by reason', unreleased),
    counts.not_reached === 0
      ? ''
      : `${count(counts.not_reached, 'folder was', 'folders were')} not reached; run the same import again to go on\n`,
  ]
    .filter((part) => part !== '')
    .join('\n')
}

/** What the first problem of a folder is, without what differs from folder to folder. */
export function generalReason(outcome: FolderOutcome): string {
  const first = firstError(outcome)
  if (first === undefined)
    return `${outcome.reason?.code ?? ''}: ${meanings[outcome.reason?.code ?? '']?.meaning ?? outcome.reason?.message ?? ''}`
  return `${first.file}: ${first.message}`
    .replace(/ \(column \d+\)/g, '')
    .replace(/"[^"]*"/g, '"…"')
    .replace(/\b\d+(\.\d+)+\b/g, '…')
}

function sayCounts({ counts, dry_run: isDryRun, duration_ms: durationMs }: ImportReport): string {
  const published = isDryRun ? 'would be published' : 'published'
  const released = counts.released + counts.release_refused === 0 ? '' : `, ${counts.released} released`
  return `${count(counts.folders, 'folder')} in ${(durationMs / 1000).toFixed(1)} s: ${counts.published} ${published}, ${counts.unchanged} already there, ${counts.refused} refused${counts.not_reached === 0 ? '' : `, ${counts.not_reached} not reached`}${released}\n`
}

function sayReasons(title: string, outcomes: readonly FolderOutcome[]): string {
  if (outcomes.length === 0) return ''
  const groups = new Map<string, FolderOutcome[]>()
  for (const outcome of outcomes) groups.set(generalReason(outcome), [...(groups.get(generalReason(outcome)) ?? []), outcome])
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length)
  return `${title}\n${sorted.map(([reason, members]) => sayGroup(reason, members)).join('')}`
}

function sayGroup(reason: string, members: readonly FolderOutcome[]): string {
  const fixes = new Set(members.map(fixOf))
  const [fix = null] = fixes.size === 1 ? fixes : ['each has its own, below']
  const named = members
    .slice(0, examplesShown)
    .map((member) => safeLine(member.folder))
    .join(', ')
  const more = members.length > examplesShown ? ` and ${members.length - examplesShown} more` : ''
  return `${String(members.length).padStart(5)}  ${safeLine(reason)}\n${fix === null ? '' : `       → ${safeLine(fix)}\n`}       ${named}${more}\n`
}

function sayFolder(outcome: FolderOutcome): string {
  const errors = outcome.findings.filter((finding) => finding.level === 'error')
  const [first] = errors
  const reason =
    first === undefined ? `${outcome.reason?.code ?? ''} ${outcome.reason?.message ?? ''}` : `${placeOf(first)} ${first.message}`
  const fix = fixOf(outcome)
  const others = errors.length > 1 ? ` (and ${count(errors.length - 1, 'other problem')})` : ''
  return `  ${safeLine(`${outcome.folder}: ${reason}${fix === null ? '' : ` → ${fix}`}${others}`)}\n`
}

function fixOf(outcome: FolderOutcome): string | null {
  return firstError(outcome)?.fix ?? outcome.reason?.hint ?? null
}

function firstError(outcome: FolderOutcome): FolderOutcome['findings'][number] | undefined {
  return outcome.findings.find((finding) => finding.level === 'error')
}
