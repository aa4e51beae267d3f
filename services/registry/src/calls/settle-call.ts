import type { CallRow } from '@repertoire/contract'
import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { getCall, noCall } from './get-call.ts'
import { noteSettlement } from './note-settlement.ts'

/** What somebody found out about a call, and how. */
export type SettleInput = { readonly id: string; readonly happened: boolean; readonly reason: string }

/** Says what became of a call whose outcome is unknown; where it did not happen, its Idempotency-Key is free again. */
export async function settleCall(deps: Deps, caller: Caller, { id, happened, reason }: SettleInput): Promise<CallRow> {
  requireRole(caller, 'operator')
  const row = await deps.calls.get(id)
  if (row === undefined) throw noCall(id)
  if (row.state !== 'done' || row.outcome !== 'unknown' || row.settled !== null)
    throw settledOrKnown(row.settled === null ? 'The outcome of this call is not unknown.' : 'This call was settled already.')
  if (!(await noteSettlement(deps, caller, { row, happened, reason })))
    throw settledOrKnown('Somebody was faster, or the call itself was heard of: its outcome is not unknown any more.')
  return getCall(deps, caller, { id, waitMs: 0 })
}

function settledOrKnown(message: string): Refusal {
  return new Refusal('ILLEGAL_TRANSITION', message, { hint: 'only a call with outcome unknown is settled, and once' })
}
