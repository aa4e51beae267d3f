import { errorCatalogue, type Detail, type ErrorCode, type ErrorEffect, type ErrorNext } from '@repertoire/contract'

/** What a refusal may carry beside its code and sentence. */
export type RefusalExtras = {
  readonly hint?: string
  readonly details?: readonly Detail[]
  readonly effect?: ErrorEffect
  /** What to do next, where it is not what the code's row of the catalogue says. */
  readonly next?: ErrorNext
  readonly headers?: Readonly<Record<string, string>>
  /** The grant or denial that decided, for the row of the call; no answer shows it. */
  readonly ruleId?: string
}

/** An expected no, with a code of the catalogue and a sentence a person understands. */
export class Refusal extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: readonly Detail[]
  readonly effect: ErrorEffect
  readonly next: ErrorNext
  readonly headers: Readonly<Record<string, string>>
  readonly ruleId: string | undefined

  constructor(code: ErrorCode, message: string, extras: RefusalExtras = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.hint = extras.hint
    this.details = extras.details ?? []
    this.effect = extras.effect ?? 'none'
    this.next = extras.next ?? errorCatalogue[code].next
    this.headers = extras.headers ?? {}
    this.ruleId = extras.ruleId
  }
}
