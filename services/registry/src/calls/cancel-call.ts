import type { Cancelled } from '@repertoire/contract'
import { hasRole, Refusal, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noCall, requireOwn } from './get-call.ts'

/** Asks for the end of a call in the background: its own agent may, and an operator. It is ended where it runs, not left behind. */
export async function cancelCall(deps: Deps, caller: Caller, { id }: { readonly id: string }): Promise<Cancelled> {
  const row = requireOwn(caller, id, await deps.calls.get(id))
  if (row.agent_id !== caller.id && !hasRole(caller, 'operator')) throw noCall(id)
  if (row.state === 'done')
    throw new Refusal('ILLEGAL_TRANSITION', `The call has ended already, with outcome ${row.outcome}.`, { hint: 'there is nothing to end' })
  if (!(await deps.asyncCalls.cancel(id)))
    throw new Refusal('ILLEGAL_TRANSITION', 'Somebody waits for this call; it ends with its deadline.', {
      hint: 'only calls that were asked for with Prefer: respond-async can be cancelled',
    })
  return { call_id: id, cancel_requested: true }
}
