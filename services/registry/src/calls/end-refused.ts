import { errorCatalogue } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallAnswer } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { finishCall } from './finish-call.ts'

// They are about the call that has the key, which has a row of its own.
const aboutAnotherCall = new Set(['CALL_IN_FLIGHT', 'IDEMPOTENCY_MISMATCH', 'OUTCOME_UNKNOWN'])

/** Ends a call that was refused or broke: its row says so, unless there can be none, and its caller hears what may have been done. */
export async function endRefused(deps: Deps, call: CallInProgress, error: unknown): Promise<CallAnswer> {
  const refusal = adviseAgainstRepeating(call, error instanceof Refusal ? error : asBug(call, error))
  if (refusal.code === 'LOG_UNAVAILABLE') {
    // It has no row; whoever looks for orphans will write that nobody knows, where an intent was told.
    deps.calls.abandon(call.id)
    await giveKeyBack(deps, call, refusal)
    return { kind: 'refused', refusal, meta: call.meta('registry_error') }
  }
  const end = call.endingOf(refusal)
  const answer = { kind: 'refused', refusal, meta: call.meta(end.outcome) } as const
  if (aboutAnotherCall.has(refusal.code)) return answer
  // Whoever is turned away for want of room, or of quota, is counted: a row for each would make an overload worse.
  if (!call.hasStarted() && !call.hasIntent() && (refusal.code === 'QUOTA_EXCEEDED' || errorCatalogue[refusal.code].status === 503)) {
    await giveKeyBack(deps, call, refusal)
    return answer
  }
  try {
    return await finishCall(deps, call, { end, answer: { ...answer, hasRow: true } })
  } catch (failure) {
    if (!(failure instanceof Refusal)) throw failure
    await giveKeyBack(deps, call, failure)
    return { kind: 'refused', refusal: adviseAgainstRepeating(call, failure), meta: call.meta('registry_error') }
  }
}

// A key whose call did nothing must not end as one of which nobody knows; where it cannot be given back now, it is later.
async function giveKeyBack(deps: Deps, call: CallInProgress, { effect }: Refusal): Promise<void> {
  const keyed = call.claimed()
  if (keyed === undefined) return
  if (effect === 'none') await deps.claims.release(keyed, call.id).catch(() => undefined)
  else deps.claims.ended(keyed, call.id)
}

// A fault of ours after the skill has begun must not read as if nothing had happened.
function asBug(call: CallInProgress, cause: unknown): Refusal {
  const effect = call.hasStarted() ? 'possible' : 'none'
  const refusal = new Refusal('INTERNAL', `Something went wrong in the registry; ask its operator about request ${call.requestId}.`, {
    effect,
    ...(effect === 'none' ? {} : { next: 'ask_human' }),
  })
  refusal.cause = cause
  return refusal
}

// "Try again" is bad advice for what happens once and may have happened.
function adviseAgainstRepeating(call: CallInProgress, refusal: Refusal): Refusal {
  if (refusal.effect === 'none' || refusal.next !== 'retry' || !call.happensOnce()) return refusal
  const { hint, details, effect, headers } = refusal
  const advised = new Refusal(refusal.code, refusal.message, {
    hint: hint ?? 'it may have had its effect: look before you call again',
    details,
    effect,
    headers,
    next: 'ask_human',
  })
  advised.cause = refusal.cause
  return advised
}
