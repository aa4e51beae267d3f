import type { Feedback, FeedbackBody } from '@repertoire/contract'
import { redactText, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { requireOwn } from './get-call.ts'

/** Says of a call how it served: whoever made it, or who sees every call; somebody else's is as absent as none. */
export async function giveFeedback(
  deps: Deps,
  caller: Caller,
  { id, said }: { readonly id: string; readonly said: FeedbackBody },
): Promise<Feedback> {
  const call = requireOwn(caller, id, await deps.calls.get(id))
  const { note, ...judged } = said
  // A note may quote what the call was given or answered.
  const kept = note === undefined ? {} : { note: redactText(deps.redaction, note) }
  return deps.calls.noteFeedback({ ...judged, ...kept, call, by: caller.id, at: deps.clock.now() })
}
