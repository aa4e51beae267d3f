import type postgres from 'postgres'
import type { NewCallRow } from '../stored.ts'
import type { Counted } from './rollups/cells.ts'
import { addToRollups } from './rollups/write-rollups.ts'

/** Makes room for rows that come late: what was written for their calls when nobody knew better goes, and is not counted any more. */
export async function replaceUnknown(tx: postgres.TransactionSql, rows: readonly NewCallRow[]): Promise<void> {
  const ids = rows.filter((row) => row.outcome !== 'unknown').map((row) => row.call_id)
  if (ids.length === 0) return
  const late = await tx<{ call_id: string }[]>`delete from call_unknowns where call_id = any(${ids}::uuid[]) returning call_id`
  for (const { call_id: id } of late) {
    const gone = await tx<(Omit<Counted, 'violations'> & { violations: string | null })[]>`
      delete from calls where call_id = ${id}::uuid
      returning ts, skill, version, agent_id, arm, outcome, error_code, attempts, total_ms, output_bytes, dry_run, violations, rollout_id, unit_kind, unit_hash`
    await tx`delete from call_payloads where call_id = ${id}::uuid`
    await addToRollups(
      tx,
      gone.map((row) => ({ ...row, violations: row.violations === null ? [] : (JSON.parse(row.violations) as Counted['violations']) })),
      -1,
    )
  }
}
