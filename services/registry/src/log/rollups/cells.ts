import { durationBucket } from '@repertoire/core'
import type { NewCallRow } from '../../stored.ts'

/** What a row is counted by. */
export type Counted = Pick<
  NewCallRow,
  | 'ts'
  | 'skill'
  | 'version'
  | 'agent_id'
  | 'arm'
  | 'outcome'
  | 'error_code'
  | 'attempts'
  | 'total_ms'
  | 'output_bytes'
  | 'dry_run'
  | 'violations'
  | 'rollout_id'
  | 'unit_kind'
  | 'unit_hash'
>

/** Calls that agree in everything they are counted by, summed up. */
export type Cell = {
  readonly bucket: Date
  readonly skill: string
  readonly version: string
  readonly agentId: string
  readonly arm: string
  readonly outcome: string
  readonly errorCode: string
  calls: number
  attempts: number
  retried: number
  totalMs: number
  outputBytes: number
  readonly histogram: Map<number, number>
}

/** How long a bucket of a rollup is, in milliseconds. */
export const grains = { hour: 3_600_000, day: 86_400_000 } as const

/** Sums rows up by hour or day of UTC and by what they are counted by, in the order of their keys. Dry runs do not count. */
export function cellsOf(rows: readonly Counted[], grainMs: number): Cell[] {
  const cells = new Map<string, Cell>()
  for (const row of rows) {
    if (row.dry_run) continue
    const start = Math.floor(row.ts.getTime() / grainMs) * grainMs
    const names = [row.skill, row.version ?? '', row.agent_id, row.arm ?? '', row.outcome, row.error_code ?? ''] as const
    const key = `${start}\n${names.join('\n')}`
    const cell = cells.get(key) ?? emptyCell(new Date(start), names)
    cells.set(key, cell)
    const bucket = durationBucket(row.total_ms)
    cell.calls += 1
    cell.attempts += row.attempts
    cell.retried += row.attempts > 1 ? 1 : 0
    cell.totalMs += row.total_ms
    cell.outputBytes += row.output_bytes
    cell.histogram.set(bucket, (cell.histogram.get(bucket) ?? 0) + 1)
  }
  return [...cells].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell)
}

function emptyCell(
  bucket: Date,
  [skill, version, agentId, arm, outcome, errorCode]: readonly [string, string, string, string, string, string],
): Cell {
  const counts = { calls: 0, attempts: 0, retried: 0, totalMs: 0, outputBytes: 0, histogram: new Map<number, number>() }
  return { bucket, skill, version, agentId, arm, outcome, errorCode, ...counts }
}
