import { errorCatalogue, type Warning } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { CallAnswer } from '../calls/call.ts'
import { errorOf, writeAnswer } from '../calls/write-answer.ts'
import { deprecationHeaders } from './deprecation.ts'
import type { Ask, HttpDeps } from './door.ts'

const json = { 'content-type': 'application/json; charset=utf-8' }

/** What an answer says of itself beside its data. */
export type Said = {
  readonly status?: number
  readonly revision?: number
  readonly warnings?: readonly Warning[]
  readonly headers?: Readonly<Record<string, string>>
  readonly logLagMs?: number
}

/** Answers with data in the envelope. */
export function respond(c: Ask, data: unknown, said: Said = {}): Response {
  const meta = metaOf(c, said)
  return new Response(JSON.stringify({ ok: true, data, error: null, meta }), {
    status: said.status ?? 200,
    headers: headersOf(c, said.headers),
  })
}

/** Answers with data that is written already: what stands in it comes out as it stands there. */
export function respondJson(c: Ask, json: string): Response {
  return new Response(`{"ok":true,"data":${json},"error":null,"meta":${JSON.stringify(metaOf(c, {}))}}`, { headers: headersOf(c) })
}

/** Answers a call: its data byte for byte, its skill's own error as a result, or a refusal with the status of its code. */
export function respondCall(c: Ask, answer: CallAnswer): Response {
  if (answer.kind === 'written') {
    if (answer.cause !== undefined) c.get('deps').onBug(answer.cause, c.get('requestId'))
    return new Response(answer.body, { status: answer.status, headers: headersOf(c, answer.headers) })
  }
  const { leaving } = answer.meta
  if (answer.kind === 'refused') noteRefusal(c, answer.refusal, answer.hasRow)
  if (answer.kind === 'refused' && answer.refusal.cause !== undefined && answer.refusal.code === 'INTERNAL')
    c.get('deps').onBug(answer.refusal.cause, c.get('requestId'))
  const { status, body } = writeAnswer(answer, { request_id: c.get('requestId'), ...staleness(c.get('deps')) })
  const headers = {
    ...(leaving === undefined ? {} : deprecationHeaders(leaving)),
    ...(answer.kind === 'refused' ? answer.refusal.headers : {}),
  }
  return new Response(body, { status, headers: headersOf(c, headers) })
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
  return refuse(c, reportBug(c, thrown), meta)
}

// The log gets all of it, the caller a number to ask about.
function reportBug(c: Ask, thrown: unknown): Refusal {
  c.get('deps').onBug(thrown, c.get('requestId'))
  return new Refusal('INTERNAL', `Something went wrong in the registry; ask its operator about request ${c.get('requestId')}.`)
}

function refuse(c: Ask, refusal: Refusal, meta: object): Response {
  noteRefusal(c, refusal)
  return new Response(JSON.stringify({ ok: false, data: null, error: errorOf(refusal), meta }), {
    status: errorCatalogue[refusal.code].status,
    headers: headersOf(c, refusal.headers),
  })
}

// Whoever has no visit yet is nobody this house knows.
function noteRefusal(c: Ask, { code }: Refusal, hasRow = false): void {
  c.get('deps').refusals.note(code, c.get('visit')?.caller.id, hasRow)
}

function metaOf(c: Ask, { revision, warnings = [], logLagMs }: Said): object {
  const deps = c.get('deps')
  const lag = logLagMs === undefined ? {} : { log_lag_ms: logLagMs }
  return { request_id: c.get('requestId'), revision: revision ?? deps.snapshot().revision, warnings, ...staleness(deps), ...lag }
}

function staleness(deps: HttpDeps): { stale_ms?: number } {
  const staleMs = deps.health.staleMs()
  return staleMs === undefined ? {} : { stale_ms: staleMs }
}

function headersOf(c: Ask, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { ...json, 'cache-control': 'private, no-cache', 'repertoire-request-id': c.get('requestId'), ...extra }
}
