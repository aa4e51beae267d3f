import type { Deps } from '../ports.ts'
import type { CallAnswer, CallEnd } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { completionOf, type Keyed } from './idempotency.ts'
import { recordCall } from './record-call.ts'
import { writeAnswer } from './write-answer.ts'

/** How a call ended, and what its caller is to be told. */
export type Finished = { readonly end: CallEnd; readonly answer: Exclude<CallAnswer, { readonly kind: 'written' }> }

/**
 * Writes the row of a call that ended, and answers. A call with a key has its row, its answer and the end of its claim written
 * together; where it did nothing and may be tried again, the key is given back instead.
 */
export async function finishCall(deps: Deps, call: CallInProgress, { end, answer }: Finished): Promise<CallAnswer> {
  const keyed = call.claimed()
  if (keyed === undefined) {
    await recordCall(deps, call, end)
    return answer
  }
  if (answer.kind === 'refused' && answer.refusal.effect === 'none' && answer.refusal.next === 'retry') {
    await recordCall(deps, call, end)
    // A key that cannot be given back now is given back later.
    await deps.claims.release(keyed, call.id).catch(() => undefined)
    return answer
  }
  return writeKeyed(deps, call, { keyed, end, answer })
}

async function writeKeyed(
  deps: Deps,
  call: CallInProgress,
  { keyed, end, answer }: Finished & { readonly keyed: Keyed },
): Promise<CallAnswer> {
  const written = writeAnswer(answer, { request_id: call.requestId })
  const headers = answer.kind === 'refused' ? answer.refusal.headers : {}
  try {
    await recordCall(deps, call, { ...end, completes: completionOf(deps, { keyed, callId: call.id, ...written, headers }) })
  } finally {
    deps.claims.ended(keyed, call.id)
  }
  const cause = answer.kind === 'refused' && answer.refusal.code === 'INTERNAL' ? answer.refusal.cause : undefined
  return { kind: 'written', ...written, headers, ...(cause === undefined ? {} : { cause }) }
}
