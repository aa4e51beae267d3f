import type { CallRow } from '@repertoire/contract'
import { Refusal, seesEverything, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showPayloads } from './show-payloads.ts'

/** One call; somebody else's is as absent as none. */
export async function getCall(deps: Deps, caller: Caller, { id }: { readonly id: string }): Promise<CallRow> {
  const row = await deps.calls.get(id)
  if (row === undefined || (!seesEverything(caller) && row.agent_id !== caller.id))
    throw new Refusal('NOT_FOUND', `There is no call ${id.slice(0, 64)}.`, { hint: 'list the calls to find its id' })
  const [shown = row] = await showPayloads(deps, caller, [row])
  return shown
}
