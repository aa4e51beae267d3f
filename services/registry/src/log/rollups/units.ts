import type { Counted } from './cells.ts'

/** What one unit of a rollout met in one arm. */
export type UnitCount = {
  readonly rolloutId: string
  readonly arm: string
  readonly unitKind: string
  readonly unitHash: string
  readonly version: string
  calls: number
  failures: number
  totalMs: number
  squaredMs: number
  lastAt: Date
}

// What says something about a version: refusals of ours for want of rights or room do not.
const failures = new Set(['skill_error', 'invalid_input', 'executor_error', 'output_mismatch', 'timeout', 'unknown', 'registry_error'])
const saysNothing = new Set(['denied', 'not_resolved', 'busy', 'cancelled'])

/** Sums rows up by rollout, arm and unit; where every call is a unit of its own, by arm. */
export function unitsOf(rows: readonly Counted[]): UnitCount[] {
  const units = new Map<string, UnitCount>()
  for (const row of rows) {
    if (row.dry_run || row.rollout_id === null || row.arm === null || row.version === null || saysNothing.has(row.outcome)) continue
    const unitHash = row.unit_kind === 'call' ? '' : (row.unit_hash ?? '')
    const key = [row.rollout_id, row.arm, row.unit_kind ?? '', unitHash, row.version].join('\n')
    const unit = units.get(key) ?? {
      rolloutId: row.rollout_id,
      arm: row.arm,
      unitKind: row.unit_kind ?? '',
      unitHash,
      version: row.version,
      calls: 0,
      failures: 0,
      totalMs: 0,
      squaredMs: 0,
      lastAt: row.ts,
    }
    units.set(key, unit)
    unit.calls += 1
    unit.failures += failures.has(row.outcome) ? 1 : 0
    unit.totalMs += row.total_ms
    unit.squaredMs += row.total_ms ** 2
    if (row.ts > unit.lastAt) unit.lastAt = row.ts
  }
  return [...units].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, unit]) => unit)
}
