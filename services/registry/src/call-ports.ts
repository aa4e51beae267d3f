import type { Detail, Effects, ExecutorSpec } from '@repertoire/contract'
import type { ConnectionRecord, QuotaRecord, QuotaSpan, VersionRecord } from '@repertoire/core'
import type { Completion, DueUnknown, NewCallRow, Probed } from './stored.ts'

/** What carries calls out, by kind. */
export type Executors = Readonly<Record<ExecutorSpec['kind'], Executor>>

/** Carries one call out before its deadline. */
export type Executor = { readonly execute: (execution: Execution) => Promise<ExecutorResult> }

/** One attempt at a call. */
export type Execution = {
  readonly callId: string
  readonly version: VersionRecord
  readonly connection: ConnectionRecord | undefined
  readonly arguments: Record<string, unknown>
  readonly timeoutMs: number
  readonly maxResultBytes: number
  readonly traceparent: string | null
  /** Aborted when nobody wants the call any more: what runs is ended, not left behind. Null where that cannot happen. */
  readonly signal: AbortSignal | null
  /** Hears how long the attempt waited for its turn, in milliseconds. */
  readonly onQueued: (ms: number) => void
}

/** How an attempt ended. `json` is what came back, byte for byte. */
export type ExecutorResult =
  | { readonly kind: 'result'; readonly json: Uint8Array }
  | {
      readonly kind: 'skill_error'
      readonly code: string
      readonly message: string
      readonly retryable: boolean
      readonly details: readonly Detail[]
      /** What the skill may have done before it said no; unknown where nobody watched. */
      readonly effect: 'none' | 'possible' | 'unknown'
    }
  | {
      readonly kind: 'failed'
      readonly code: 'EXECUTOR_FAILED' | 'EXECUTOR_UNREACHABLE' | 'TIMEOUT' | 'BUSY' | 'CAGE_MISSING' | 'INVALID_INPUT'
      readonly reason: string
      readonly message: string
      readonly details: readonly Detail[]
      /** Whether the same may go well a moment later: the upstream said so by its status. */
      readonly isTransient?: boolean
    }

/** How much a skill may still be tried again. */
export type RetryBudget = {
  /** Notes a call, which earns a part of a retry. */
  readonly earn: () => void
  /** Takes a retry; false when there is none. */
  readonly spend: () => boolean
}

/** Idempotency keys: who runs, who waits, who gets the first answer. Needs the database; refuses with UNAVAILABLE without it. */
export type Claims = {
  /** What a key is known for; undefined when it is new. */
  readonly look: (key: ClaimKey) => Promise<KnownClaim | undefined>
  /** Takes a key for a call, unless somebody else has it. */
  readonly claim: (claim: NewClaim) => Promise<KnownClaim | 'mine'>
  /** Gives a key back whose call has done nothing, so that the same key may try again. */
  readonly release: (key: ClaimKey, callId: string) => Promise<void>
  /** Says that the call that took a key has ended here, and its answer, if it has one, is where everybody finds it. */
  readonly ended: (key: ClaimKey, callId: string) => void
}

/** Whose key, for which skill. */
export type ClaimKey = { readonly agentId: string; readonly skillKey: string; readonly keyHash: string }

/** A key about to be taken, and for how long until somebody else may ask what became of it. */
export type NewClaim = ClaimKey & {
  readonly requestHash: string
  readonly callId: string
  readonly effects: Effects
  readonly version: string
  readonly leaseMs: number
}

/** What became of the call that took a key. */
export type KnownClaim = {
  readonly kind: 'answered' | 'in_flight' | 'unknown' | 'abandoned'
  readonly callId: string
  readonly requestHash: string
  readonly version: string
  /** The first answer, sealed; null when there is none. */
  readonly answer: Uint8Array | null
  /** Whether it was found out later that it had happened. */
  readonly hasHappened: boolean
}

/** Calls of which nobody knows how they ended, and when each is asked after. Needs the database; refuses with UNAVAILABLE without it. */
export type Unknowns = {
  /** Takes some that are due, for so long that nobody else asks after them meanwhile; each taking counts as a try. */
  readonly take: (limit: number, leaseMs: number) => Promise<readonly DueUnknown[]>
  /** Puts one back with what was learnt, to be asked after in so many milliseconds, or where that is null by nobody any more. */
  readonly putBack: (
    callId: string,
    next: { readonly inMs: number | null; readonly tries: number; readonly probed: Probed | null },
  ) => Promise<void>
  /** Says that there is nobody to ask about some. */
  readonly leave: (callIds: readonly string[]) => Promise<void>
}

/** Whole results that must come back later: sealed, in pieces, for a day. */
export type Results = {
  readonly keep: (result: {
    readonly callId: string
    readonly agentId: string
    readonly pieces: readonly Uint8Array[]
    readonly totalBytes: number
  }) => Promise<void>
  /** One piece of a result of an agent, and how large the whole is. */
  readonly piece: (
    agentId: string,
    callId: string,
    number: number,
  ) => Promise<{ readonly bytes: Uint8Array; readonly totalBytes: number; readonly pieces: number } | undefined>
}

/** A place of a skill that is carried out only so often at once, over all replicas. */
export type Lease = {
  readonly release: () => Promise<void>
  /** Aborted when the place could not be kept: somebody else may have it soon. */
  readonly lost: AbortSignal
}

/** Places of skills with a limit on calls at once. */
export type Leases = {
  /** Undefined when there was none before the time was over, or before nobody wanted it any more. A call below one that holds a place of the same skill gets none at once. */
  readonly acquire: (wanted: {
    readonly skillKey: string
    readonly slots: number
    readonly callId: string
    readonly parentCallId: string | null
    readonly waitMs: number
    readonly signal: AbortSignal | null
  }) => Promise<Lease | undefined>
}

/** Calls that nobody waits for. */
export type AsyncCalls = {
  /** Tells every replica of a call before it is answered with 202. */
  readonly announce: (row: NewCallRow, completes?: Completion) => Promise<void>
  /** Asks whoever carries a call out to end it; false when it is not under way. */
  readonly cancel: (callId: string) => Promise<boolean>
  /** Says that a call runs here, and hears when it is to end. */
  readonly run: (callId: string, work: (signal: AbortSignal) => Promise<unknown>) => void
  readonly running: () => number
}

/** What this replica may spend of the limits on calls, which it shares with the others without asking anybody during a call. */
export type Quotas = {
  /** Counts one call against all of these limits; or against none of them, where one of them has nothing left. */
  readonly spend: (quotas: readonly QuotaRecord[], nowMs: number) => QuotaSpent | QuotaExceeded
  /** How many calls there were in the minute or day of a moment, as far as this replica has heard. */
  readonly used: (quota: QuotaRecord, span: QuotaSpan, nowMs: number) => number
  /** How many calls were refused here since the start. */
  readonly refused: () => number
}

/** A call that was counted, and how it is made uncounted when nothing was carried out after all. */
export type QuotaSpent = { readonly kind: 'spent'; readonly takeBack: () => void }

/** The limit that has nothing left, over which span, and after how long it is worth trying again. */
export type QuotaExceeded = {
  readonly kind: 'exceeded'
  readonly quota: QuotaRecord
  readonly span: QuotaSpan
  readonly limit: number
  readonly retryAfterMs: number
}
