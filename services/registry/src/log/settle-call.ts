import type postgres from 'postgres'
import type { Settlement } from '../stored.ts'

/**
 * Notes what was found out about a call whose outcome is unknown, unless somebody did before. Where it did not happen, its key
 * is free again: the same request may be carried out after all.
 */
export async function settleCall(sql: postgres.Sql, callId: string, settlement: Settlement): Promise<boolean> {
  return (await sql.begin(async (tx) => {
    const settled = await tx`
      update calls set settled = ${JSON.stringify(settlement)}, probed = null
      where call_id = ${callId}::uuid and outcome = 'unknown' and settled is null returning call_id`
    if (settled.length === 0) return false
    await tx`update call_unknowns set probe_due_at = null where call_id = ${callId}::uuid`
    if (!settlement.happened) await tx`delete from call_claims where call_id = ${callId}::uuid and state = 'unknown'`
    return true
  })) as boolean
}
