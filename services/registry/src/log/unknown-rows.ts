import type postgres from 'postgres'
import type { LogEntry } from '../stored.ts'
import { callIdOf } from './ready-rows.ts'
import { countRows } from './rollups/count-rows.ts'
import { lockFold } from './rollups/fold.ts'

/** Makes room for rows that come late, of which no ready one is unknown itself: what was written for their calls when nobody knew better goes, and is not counted any more. */
export async function replaceUnknown(tx: postgres.TransactionSql, entries: readonly LogEntry[]): Promise<void> {
  const ids = entries.filter((entry) => entry.ready !== undefined || entry.row.outcome !== 'unknown').map(callIdOf)
  if (ids.length === 0) return
  // There are hardly ever any, and a thousand ids are dear to ask for.
  const [any] = await tx`select 1 from call_unknowns limit 1`
  if (any === undefined) return
  const late = await tx<{ call_id: string }[]>`delete from call_unknowns where call_id = any(${ids}::uuid[]) returning call_id`
  if (late.length === 0) return
  const callIds = late.map((row) => row.call_id)
  // Only what was counted is taken away; whoever counts waits until it is gone.
  await countRows(tx, { callIds, upTo: await lockFold(tx) }, -1)
  await tx`delete from calls where call_id = any(${callIds}::uuid[])`
  await tx`delete from call_payloads where call_id = any(${callIds}::uuid[])`
}
