import { errorCatalogue, type EnvelopeError } from '@repertoire/contract'
import type { Refusal } from '@repertoire/core'
import type { CallAnswer } from './call.ts'

/** An answer as it goes over the wire: its status and the exact bytes of its envelope. */
export type WrittenAnswer = { readonly status: number; readonly body: Buffer }

const prefix = '{"ok":true,"data":'

/** Writes the envelope of a call: its data byte for byte, its skill's own error as a result, or a refusal with the status of its code. */
export function writeAnswer(answer: Exclude<CallAnswer, { readonly kind: 'written' }>, said: object): WrittenAnswer {
  const meta = { ...said, ...answer.meta, leaving: undefined }
  if (answer.kind === 'data') {
    const suffix = `,"error":null,"meta":${JSON.stringify(meta)}}`
    const { json } = answer
    const body = Buffer.allocUnsafe(prefix.length + json.byteLength + Buffer.byteLength(suffix))
    body.write(prefix, 'latin1')
    body.set(json, prefix.length)
    body.write(suffix, prefix.length + json.byteLength)
    return { status: answer.status ?? 200, body }
  }
  if (answer.kind === 'refused') {
    const { status } = errorCatalogue[answer.refusal.code]
    return { status, body: Buffer.from(JSON.stringify({ ok: false, data: null, error: errorOf(answer.refusal), meta })) }
  }
  const { code, message, retryable, details, effect } = answer.error
  const error: EnvelopeError = { code, origin: 'skill', effect, next: retryable ? 'retry' : 'fix_input', message, details }
  return { status: 200, body: Buffer.from(JSON.stringify({ ok: false, data: null, error, meta })) }
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
