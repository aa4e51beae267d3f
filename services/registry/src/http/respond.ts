import { errorCatalogue, type EnvelopeError, type ErrorEffect, type Warning } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { CallAnswer } from '../calls/call.ts'
import { deprecationHeaders } from './deprecation.ts'
import type { Ask, HttpDeps } from './door.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }
const prefix = Buffer.from('{"ok":true,"data":')

/** What an answer says of itself beside its data. */
export type Said = {
  readonly status?: number
  readonly revision?: number
  readonly warnings?: readonly Warning[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers with data in the envelope. */
export function respond(c: Ask, data: unknown, said: Said = {}): Response {
  const meta = metaOf(c, said)
  return new Response(JSON.stringify({ ok: true, data, error: null, meta }), {
    status: said.status ?? 200,
    headers: headersOf(c, said.headers),
  })
}

/** Answers a call: its data byte for byte, its skill's own error as a result, or a refusal with the status of its code. */
export function respondCall(c: Ask, answer: CallAnswer): Response {
  const { leaving, ...about } = answer.meta
  const meta = { request_id: c.get('requestId'), ...about, ...staleness(c.get('deps')) }
  const headers = headersOf(c, leaving === undefined ? {} : deprecationHeaders(leaving))
  if (answer.kind === 'data') {
    const suffix = Buffer.from(`,"error":null,"meta":${JSON.stringify(meta)}}`)
    return new Response(Buffer.concat([prefix, answer.json, suffix]), { headers })
  }
  if (answer.kind === 'refused') {
    const { refusal } = answer
    return refuse(c, refusal.code === 'INTERNAL' ? reportBug(c, refusal.cause, refusal.effect) : refusal, meta)
  }
  const { code, message, retryable, details, effect } = answer.error
  const error: EnvelopeError = { code, origin: 'skill', effect, next: retryable ? 'retry' : 'fix_input', message, details }
  return new Response(JSON.stringify({ ok: false, data: null, error, meta }), { headers })
}

/** The one answer to whoever is not known, whatever the reason: no two of them differ by a byte. */
export function respondUnknown(refusal: Refusal): Response {
  const meta = { request_id: '', revision: 0, warnings: [] }
  return new Response(JSON.stringify({ ok: false, data: null, error: errorOf(refusal), meta }), {
    status: errorCatalogue[refusal.code].status,
    headers: { ...json, 'cache-control': 'private, no-cache', ...refusal.headers },
  })
}

/** Turns whatever was thrown into an envelope: a refusal with its code, anything else as a fault of ours without detail. */
export function respondError(c: Ask, thrown: unknown): Response {
  const meta = metaOf(c, {})
  if (thrown instanceof Refusal) return refuse(c, thrown, meta)
  return refuse(c, reportBug(c, thrown, 'none'), meta)
}

// The log gets all of it, the caller a number to ask about.
function reportBug(c: Ask, thrown: unknown, effect: ErrorEffect): Refusal {
  c.get('deps').onBug(thrown, c.get('requestId'))
  return new Refusal('INTERNAL', `Something went wrong in the registry; ask its operator about request ${c.get('requestId')}.`, {
    effect,
    ...(effect === 'none' ? {} : { next: 'ask_human' }),
  })
}

function refuse(c: Ask, refusal: Refusal, meta: object): Response {
  return new Response(JSON.stringify({ ok: false, data: null, error: errorOf(refusal), meta }), {
    status: errorCatalogue[refusal.code].status,
    headers: headersOf(c, refusal.headers),
  })
}

/** A refusal as the error half of an envelope. */
export function errorOf(refusal: Refusal): EnvelopeError {
  const { origin } = errorCatalogue[refusal.code]
  return {
    code: refusal.code,
    origin,
    effect: refusal.effect,
    next: refusal.next,
    message: refusal.message,
    ...(refusal.hint === undefined ? {} : { hint: refusal.hint }),
    details: refusal.details,
  }
}

function metaOf(c: Ask, { revision, warnings = [] }: Said): object {
  const deps = c.get('deps')
  return { request_id: c.get('requestId'), revision: revision ?? deps.snapshot().revision, warnings, ...staleness(deps) }
}

function staleness(deps: HttpDeps): { stale_ms?: number } {
  const staleMs = deps.health.staleMs()
  return staleMs === undefined ? {} : { stale_ms: staleMs }
}

function headersOf(c: Ask, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...json, 'cache-control': 'private, no-cache', 'repertoire-request-id': c.get('requestId'), ...extra }
}
