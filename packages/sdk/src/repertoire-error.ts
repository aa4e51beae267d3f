import type { Detail, ErrorEffect, ErrorNext, ErrorOrigin, Meta } from '@repertoire/contract/sdk'

/** What an error carries beside its code. */
export type RepertoireErrorParts = {
  readonly code: string
  readonly origin: ErrorOrigin | 'network'
  readonly effect: ErrorEffect
  readonly next: ErrorNext
  readonly message: string
  readonly hint?: string | undefined
  readonly details?: readonly Detail[]
  readonly status: number
  readonly meta?: Meta | undefined
}

/** A no of the registry or of a skill. Look at `origin` first: with `skill`, `code` is one of the skill's own. */
export class RepertoireError extends Error {
  readonly code: string
  /** `network` when no answer arrived at all. */
  readonly origin: ErrorOrigin | 'network'
  /** What may have happened: `none`, `possible` or `done`. */
  readonly effect: ErrorEffect
  /** What to do next: `fix_input`, `retry`, `reload`, `ask_human` or `give_up`. */
  readonly next: ErrorNext
  readonly hint: string | undefined
  readonly details: readonly Detail[]
  /** The HTTP status; 0 when no answer arrived. */
  readonly status: number
  readonly meta: Meta | undefined

  constructor(parts: RepertoireErrorParts) {
    super(parts.message)
    this.name = 'RepertoireError'
    this.code = parts.code
    this.origin = parts.origin
    this.effect = parts.effect
    this.next = parts.next
    this.hint = parts.hint
    this.details = parts.details ?? []
    this.status = parts.status
    this.meta = parts.meta
  }
}
