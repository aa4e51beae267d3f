import { Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallAnswer } from './call.ts'
import type { CallInProgress } from './call-in-progress.ts'
import { answerKnown, type Keyed } from './idempotency.ts'

/** A key that wants to be taken, and whether the database was away a moment ago. */
export type KeyWanted = { readonly keyed: Keyed; readonly isAway: boolean; readonly admission: Admission }

// Whoever follows may ask what became of a call so long after its deadline.
const graceMs = 10_000

/**
 * Takes a key for a call; answers with what is known when another call has it. Without the database nobody can tell whether
 * it was used: what may happen only once is refused, the rest runs and says that it was not deduplicated.
 */
export async function claimKey(deps: Deps, call: CallInProgress, { keyed, isAway, admission }: KeyWanted): Promise<CallAnswer | undefined> {
  const { version } = admission.resolved
  // A playbook does nothing; it may be told as often as somebody asks.
  if (version.kind === 'playbook') return undefined
  try {
    if (isAway) throw new Refusal('UNAVAILABLE', 'The database is away.')
    const claimed = await deps.claims.claim({
      ...keyed,
      callId: call.id,
      effects: version.manifest.effects,
      version: version.version,
      leaseMs: call.leftMs() + graceMs,
    })
    if (claimed !== 'mine') return answerKnown(deps, keyed, claimed)
    call.claims(keyed)
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'UNAVAILABLE') throw error
    if (version.manifest.effects === 'once')
      throw new Refusal('UNAVAILABLE', 'The database is away, so nobody can tell whether this Idempotency-Key was used before.', {
        hint: 'send the same request again when the database is back',
        headers: { 'Retry-After': '5' },
      })
    call.warn({
      code: 'not_deduplicated',
      message: 'The database is away: the Idempotency-Key was not used, and the same key again runs the skill again.',
    })
    return undefined
  }
}
