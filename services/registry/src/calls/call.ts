import type { CallBody, Detail, ErrorEffect, ErrorOrigin, Meta, Outcome, VersionStatus } from '@repertoire/contract'
import type { JsonProblem, Refusal } from '@repertoire/core'

/** One request to execute a skill. */
export type CallInput = {
  readonly name: string
  readonly body: CallBody
  /** What parsing the body would have hidden, found by the scan at the door. */
  readonly problem: JsonProblem | undefined
  readonly idempotencyKey: string | null
  /** The caller's own deadline, in milliseconds from now, by its header. */
  readonly timeoutMs: number | null
  /** Whether the caller wants a call id at once and the answer later. */
  readonly isAsync: boolean
  /** The call this one repeats. */
  readonly replayOf: string | null
  /** Whether it is a question that nobody may answer by doing something: only a skill with effects read carries it out. */
  readonly onlyReads?: boolean
  /** How long it waited to be let in, in milliseconds. */
  readonly queuedMs: number
}

/** What a call answers: data as the exact bytes, or a refusal, or the skill's own error; always with what the call was. */
export type CallAnswer =
  | { readonly kind: 'data'; readonly json: Uint8Array; readonly meta: CallMeta; readonly status?: number }
  | {
      readonly kind: 'skill_error'
      readonly error: {
        readonly code: string
        readonly message: string
        readonly retryable: boolean
        readonly details: readonly Detail[]
        readonly effect: ErrorEffect
      }
      readonly meta: CallMeta
    }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      readonly meta: CallMeta
      /** Whether the log has a row that says so. */
      readonly hasRow?: boolean
    }
  /** The answer to an Idempotency-Key, as it was written the first time. */
  | {
      readonly kind: 'written'
      readonly status: number
      readonly body: Buffer
      readonly headers: Readonly<Record<string, string>>
      /** A fault of ours that was behind it, when it is the first time. */
      readonly cause?: unknown
    }

/** The part of an answer's meta that is about the call, and what its headers say when the version is on its way out. */
export type CallMeta = Omit<Meta, 'request_id'> & { readonly leaving?: Leaving }

/** What is said of a version that is on its way out. */
export type Leaving = {
  readonly name: string
  readonly status: VersionStatus
  readonly status_changed_at: string
  readonly sunset_at: string | null
  readonly replacement: string | null
}

/** How a call ended, for its row. */
export type CallEnd = {
  readonly outcome: Outcome
  readonly error: { readonly code: string; readonly origin: ErrorOrigin; readonly message: string } | null
  readonly output: Uint8Array | null
  /** What the call may have done to the world by then: what its caller is told if the row cannot be written. */
  readonly effect: ErrorEffect
  /** The grant or denial that refused it before it was admitted. */
  readonly ruleId?: string | undefined
}
