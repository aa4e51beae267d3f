import { canonicalJson, nameKey, open, Refusal, seal } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import type { ClaimKey, Deps, KnownClaim } from '../ports.ts'
import type { Completion } from '../stored.ts'
import type { Visit } from '../visit.ts'
import type { CallAnswer, CallInput } from './call.ts'

/** A key as its caller gave it, for one request. */
export type Keyed = ClaimKey & { readonly requestHash: string }

const longestKey = 255

/** Reads the Idempotency-Key of a call; undefined when there is none. Of the key itself nothing is kept but a keyed hash. */
export function readKey(deps: Deps, visit: Visit, input: CallInput): Keyed | undefined {
  const { idempotencyKey: key, name, body } = input
  if (key === null || body.dry_run) return undefined
  if (key === '' || key.length > longestKey || !/^[\x21-\x7e]+$/.test(key))
    throw new Refusal('INVALID_REQUEST', `An Idempotency-Key is 1 to ${longestKey} visible ASCII characters.`, {
      hint: 'use a UUID',
      details: [{ path: '/idempotency-key', rule: 'characters' }],
    })
  const hash = (text: string): string => createHmac('sha256', deps.settings.installSecret).update(text).digest('hex')
  return {
    agentId: visit.caller.id,
    skillKey: nameKey(name).slice(0, 64),
    keyHash: hash(`key\n${key}`),
    requestHash: hash(`request\n${canonicalJson(requestOf(visit, input))}`),
  }
}

// All that makes it another request, wherever it was said: the answer for one tenant is not that for another.
function requestOf(visit: Visit, { body, isAsync }: CallInput): object {
  const { timeout_ms: _, ...request } = body
  const tenant = request.tenant ?? visit.tenant
  return {
    ...request,
    session: request.session ?? visit.session,
    ...(tenant === null ? {} : { tenant }),
    on_behalf_of: visit.caller.onBehalfOf?.subject ?? null,
    is_async: isAsync,
  }
}

/** The first answer to a key byte for byte, or why there is none. */
export function answerKnown(deps: Deps, keyed: Keyed, known: KnownClaim): CallAnswer {
  const details = [{ message: `the call that has this key is ${known.callId}` }]
  if (known.requestHash !== keyed.requestHash)
    throw new Refusal('IDEMPOTENCY_MISMATCH', 'This Idempotency-Key was used for another request.', {
      hint: 'use a new key for a new request, and the same request for the same key',
      details,
    })
  if (known.kind === 'in_flight' || known.kind === 'abandoned')
    throw new Refusal('CALL_IN_FLIGHT', 'The call that has this Idempotency-Key is still under way.', {
      hint: 'send the same request again in a moment',
      headers: { 'Retry-After': '1' },
      details,
    })
  const answer = known.answer === null ? undefined : open(deps.settings.installSecret, contextOf(keyed), known.answer)
  if (known.kind === 'unknown' || answer === undefined)
    throw new Refusal(
      'OUTCOME_UNKNOWN',
      known.hasHappened
        ? 'The call that has this Idempotency-Key has had its effect, as was found out later; its answer is lost.'
        : 'The call that has this Idempotency-Key was under way when its process ended; it may have had its effect.',
      {
        hint: known.hasHappened
          ? 'do not call again'
          : `look for its effect; an operator says what became of it: POST /v1/calls/${known.callId}/settle`,
        effect: known.hasHappened ? 'done' : 'possible',
        details,
      },
    )
  return unpack(answer)
}

type Packed = { readonly status: number; readonly headers: Readonly<Record<string, string>> }

type ToKeep = Packed & { readonly keyed: Keyed; readonly callId: string; readonly body: Uint8Array }

/** The end of a key's claim, with its answer sealed: it holds what the caller got, unredacted. */
export function completionOf(deps: Deps, { keyed, callId, ...answer }: ToKeep): Completion {
  const { agentId, skillKey, keyHash } = keyed
  const head = Buffer.from(`${JSON.stringify({ status: answer.status, headers: answer.headers })}\n`)
  const bytes = Buffer.concat([head, answer.body])
  return {
    agentId,
    skillKey,
    keyHash,
    callId,
    answer: seal(deps.settings.installSecret, contextOf(keyed), { bytes, nonce: deps.ids.random(12) }),
  }
}

function unpack(bytes: Buffer): CallAnswer {
  const end = bytes.indexOf(0x0a)
  const { status, headers } = JSON.parse(bytes.toString('utf8', 0, end)) as Packed
  return { kind: 'written', status, headers: { ...headers, 'idempotency-replayed': 'true' }, body: bytes.subarray(end + 1) }
}

function contextOf({ agentId, skillKey, keyHash }: ClaimKey): string {
  return `answer ${agentId} ${skillKey} ${keyHash}`
}
