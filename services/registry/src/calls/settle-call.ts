import type { CallRow } from '@repertoire/contract'
import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { getCall, noCall } from './get-call.ts'

/** What somebody found out about a call, and how. */
export type SettleInput = { readonly id: string; readonly happened: boolean; readonly reason: string }

/** Says what became of a call whose outcome is unknown; where it did not happen, its Idempotency-Key is free again. */
export async function settleCall(deps: Deps, caller: Caller, { id, happened, reason }: SettleInput): Promise<CallRow> {
  requireRole(caller, 'operator')
  const row = await deps.calls.get(id)
  if (row === undefined) throw noCall(id)
  if (row.state !== 'done' || row.outcome !== 'unknown' || row.settled !== null)
    throw new Refusal(
      'ILLEGAL_TRANSITION',
      row.settled === null ? 'The outcome of this call is not unknown.' : 'This call was settled already.',
      {
        hint: 'only a call with outcome unknown is settled, and once',
      },
    )
  const at = deps.clock.now()
  await deps.store.transaction((tx) =>
    tx.audit.append({ caller, action: 'call.settle', subject: id, skill: row.skill, reason, after: { call_id: id, happened }, at }),
  )
  await deps.calls.settle(id, { happened, by: caller.id, reason, at: at.toISOString() })
  return getCall(deps, caller, { id, waitMs: 0 })
}
