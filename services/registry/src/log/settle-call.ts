import type postgres from 'postgres'
import type { Settlement } from '../stored.ts'

/**
 * Notes what was found out about a call whose outcome is unknown. Where it did not happen, its key is free again: the same
 * request may be carried out after all.
 */
export async function settleCall(sql: postgres.Sql, callId: string, settlement: Settlement): Promise<boolean> {
  return (await sql.begin(async (tx) => {
    const settled = await tx`
      update calls set settled = ${JSON.stringify(settlement)} where call_id = ${callId}::uuid and outcome = 'unknown' returning call_id`
    if (settled.length > 0 && !settlement.happened) await tx`delete from call_claims where call_id = ${callId}::uuid and state = 'unknown'`
    return settled.length > 0
  })) as boolean
}
