import type { ErrorEffect, ErrorNext, ErrorOrigin } from './errors.ts'

/** A remark that does not stop an answer: a stable code and a sentence. */
export type Warning = { readonly code: string; readonly message: string }

/** How a version was chosen. */
export type Via = 'pinned' | 'stable' | 'canary' | 'allow' | 'session'

/** Who broke whom, in one word; the same in the answer and in the call's row. */
export type Outcome =
  | 'ok'
  | 'skill_error'
  | 'invalid_input'
  | 'denied'
  | 'not_resolved'
  | 'executor_error'
  | 'output_mismatch'
  | 'timeout'
  | 'busy'
  | 'cancelled'
  | 'unknown'
  | 'registry_error'

/** One thing that is wrong, where, and how to mend it. */
export type Detail = {
  readonly path?: string
  readonly rule?: string
  readonly expected?: string
  readonly got?: string
  readonly fix?: string
  readonly did_you_mean?: string
  readonly allowed?: readonly unknown[]
  readonly file?: string
  readonly line?: number
  readonly message?: string
  readonly reason?: string
}

/** The error half of an envelope. `code` is of the catalogue unless `origin` is `skill`. */
export type EnvelopeError = {
  readonly code: string
  readonly origin: ErrorOrigin
  readonly effect: ErrorEffect
  readonly next: ErrorNext
  readonly message: string
  readonly hint?: string
  readonly details: readonly Detail[]
}

/** What an answer says about itself; the call fields are there when the answer is that of a call. */
export type Meta = {
  readonly request_id: string
  readonly revision: number
  readonly warnings: readonly Warning[]
  readonly stale_ms?: number
  /** For how long rows of other replicas may have been waiting, so that they are not among those shown. */
  readonly log_lag_ms?: number
  readonly call_id?: string
  readonly skill?: string
  readonly version?: string
  readonly via?: Via
  readonly outcome?: Outcome
  readonly duration_ms?: number
  readonly dry_run?: boolean
  readonly truncated?: unknown
}

/** The body of every answer under `/v1`. */
export type Envelope<T> =
  | { readonly ok: true; readonly data: T; readonly error: null; readonly meta: Meta }
  | { readonly ok: false; readonly data: null; readonly error: EnvelopeError; readonly meta: Meta }
