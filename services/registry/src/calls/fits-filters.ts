import type { CallRow, TailQuery } from '@repertoire/contract'

/** What rows are told apart by while they pass: the filters of the list. */
export type RowFilters = Omit<TailQuery, 'after'> & { readonly onBehalfOf?: string | undefined }

const columns = {
  skill: 'skill',
  version: 'version',
  agent: 'agent_id',
  outcome: 'outcome',
  error_code: 'error_code',
  via: 'via',
  rollout: 'rollout_id',
  session: 'session',
  trace: 'trace_id',
  onBehalfOf: 'on_behalf_of',
} as const

/** Whether a row is one that was asked for. */
export function fitsFilters(row: CallRow, filters: RowFilters): boolean {
  const { min_duration_ms: leastMs, dry_run: dryRun, q } = filters
  return (
    (Object.keys(columns) as (keyof typeof columns)[]).every(
      (name) => filters[name] === undefined || row[columns[name]] === filters[name],
    ) &&
    (leastMs === undefined || row.total_ms >= leastMs) &&
    (dryRun === undefined || row.dry_run === (dryRun === 'true')) &&
    (q === undefined || holdsText(row.input, q))
  )
}

function holdsText(input: unknown, text: string): boolean {
  if (input === null || input === undefined) return false
  const written = lower(typeof input === 'string' ? input : JSON.stringify(input))
  return written.includes(lower(text)) || written.includes(lower(JSON.stringify(text).slice(1, -1)))
}

const lower = (text: string): string => text.toLowerCase()
