import type { ErrorCode, FeedbackStats, RefusalDimension, StatsDimension, StatsInterval } from '@repertoire/contract'
import type { ArmSample, CountSource, Histogram, Window } from '@repertoire/core'

/** Which calls are counted, from where, and what they are told apart by. */
export type CountsQuestion = {
  readonly source: CountSource
  readonly window: Window
  readonly interval: StatsInterval
  readonly groupBy: readonly StatsDimension[]
  readonly filters: Readonly<Partial<Record<StatsDimension, string>>>
  /** Whether only calls that ended with an error count. */
  readonly errorsOnly?: boolean
  /** Whether durations are not asked for: they are the dearest to sum. */
  readonly countsOnly?: boolean
  readonly limit: number
}

/** One cell of counted calls; dimensions that were not asked for are absent, and empty where a row had none. */
export type CountedCell = {
  readonly at: Date | undefined
  readonly names: Readonly<Partial<Record<StatsDimension, string>>>
  readonly calls: number
  readonly ok: number
  readonly failures: number
  readonly attempts: number
  readonly retried: number
  /** Of those that were tried more than once, the ones that ended well. */
  readonly recovered: number
  readonly totalMs: number
  readonly outputBytes: number
  readonly histogram: Histogram
}

/** What one side of a comparison met. */
export type CountedSide = ArmSample & { readonly arm: string | null; readonly version: string | null }

/** Two sides, the unit they are counted at, and how many units are in both. */
export type CountedSides = { readonly unit: string; readonly a: CountedSide; readonly b: CountedSide; readonly unitsInBoth: number }

/** A place where arguments or answers missed their schema. */
export type CountedPlace = {
  readonly skill: string
  readonly version: string
  readonly outcome: string
  readonly path: string
  readonly rule: string
  readonly calls: number
}

/** A skill that was shown and not called. */
export type ShownUnused = {
  readonly skill: string
  readonly listed: number
  readonly loaded: number
  readonly agents: number
  readonly lastShownAt: Date
}

/** A search that found nothing. */
export type MissedSearch = { readonly query: string; readonly searches: number; readonly agents: number; readonly lastAt: Date }

/** Which refusals are counted, and what they are told apart by. */
export type RefusalsQuestion = Listed & {
  readonly agent: string | undefined
  readonly code: string | undefined
  readonly groupBy: readonly RefusalDimension[]
  readonly interval: StatsInterval
}

/** Refusals of one cell; dimensions that were not asked for are absent, and an agent nobody knows is empty. */
export type CountedRefusals = {
  readonly at: Date | undefined
  readonly agent?: string
  readonly code?: string
  readonly refusals: number
}

/** How often requests were refused, with or without a row. */
export type Refusals = {
  /** Notes one, of an agent where it is known who asked, and whether it has a row in the log. */
  readonly note: (code: ErrorCode, agentId: string | undefined, hasRow?: boolean) => void
  /** How often this process answered each code since it started. */
  readonly byCode: () => ReadonlyMap<ErrorCode, number>
  /** Those with 401, 429 and 503 that have no row, over all replicas, by the minute. */
  readonly count: (question: RefusalsQuestion) => Promise<readonly CountedRefusals[]>
}

/** What calls of a version took lately. */
export type MeasuredVersion = {
  readonly calls: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly meanResultBytes: number
  readonly failureRate: number
}

/** What was said of the calls of one version. */
export type CountedFeedback = FeedbackStats['items'][number]

/** A window and how many items are wanted of it. */
export type Listed = { readonly window: Window; readonly limit: number }

/** Of which calls feedback is counted. */
export type FeedbackQuestion = Listed & {
  readonly skill: string | undefined
  readonly version: string | undefined
  readonly agent: string | undefined
}

/** What was counted of the call log, and of what was shown. */
export type Counts = {
  readonly calls: (question: CountsQuestion) => Promise<readonly CountedCell[]>
  /** The arms of a rollout: `a` is what the line served, `b` the candidate. */
  readonly arms: (rolloutId: string) => Promise<CountedSides>
  /** Two versions of a skill, by the agents that called them; whole days. */
  readonly versions: (question: {
    readonly skill: string
    readonly a: string
    readonly b: string
    readonly window: Window
  }) => Promise<CountedSides>
  readonly places: (
    question: Listed & { readonly skill: string | undefined; readonly version: string | undefined },
  ) => Promise<readonly CountedPlace[]>
  readonly feedback: (question: FeedbackQuestion) => Promise<readonly CountedFeedback[]>
  readonly unused: (question: Listed) => Promise<readonly ShownUnused[]>
  readonly missedSearches: (question: Listed) => Promise<readonly MissedSearch[]>
  /** What was last measured of a version; answered from memory. */
  readonly measured: (skill: string, version: string) => MeasuredVersion | undefined
}
