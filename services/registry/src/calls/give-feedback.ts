import type { Feedback, FeedbackBody } from '@repertoire/contract'
import { Refusal, seesEverything, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Says of a call how it served: whoever made it, or who sees every call; somebody else's is as absent as none. */
export async function giveFeedback(
  deps: Deps,
  caller: Caller,
  { id, said }: { readonly id: string; readonly said: FeedbackBody },
): Promise<Feedback> {
  const call = await deps.calls.get(id)
  if (call === undefined || (!seesEverything(caller) && call.agent_id !== caller.id))
    throw new Refusal('NOT_FOUND', `There is no call ${id.slice(0, 64)}.`, { hint: 'list the calls to find its id' })
  return deps.calls.noteFeedback({ ...said, call, by: caller.id, at: deps.clock.now() })
}
