import type { Detail, ErrorCode, ErrorEffect } from '@repertoire/contract'

/** What a refusal may carry beside its code and sentence. */
export type RefusalExtras = {
  readonly hint?: string
  readonly details?: readonly Detail[]
  readonly effect?: ErrorEffect
  readonly headers?: Readonly<Record<string, string>>
}

/** An expected no, with a code of the catalogue and a sentence a person understands. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: readonly Detail[]
  readonly effect: ErrorEffect
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, extras: RefusalExtras = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.hint = extras.hint
    this.details = extras.details ?? []
    this.effect = extras.effect ?? 'none'
    this.headers = extras.headers ?? {}
  }
}
