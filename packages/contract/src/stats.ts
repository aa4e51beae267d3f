import { z } from 'zod'
import { limits } from './limits.ts'
import { Instant } from './times.ts'

const Time = z.string().describe('RFC 3339, UTC')
const window = { from: Instant.optional(), to: Instant.optional() }
const filters = {
  skill: z.string().max(64).optional(),
  version: z.string().max(256).optional(),
  agent: z.string().max(128).optional(),
}
const limit = z.coerce.number().int().min(1).max(limits.pageItems).default(50)

/** What calls can be counted by. */
export const StatsDimension = z.enum(['skill', 'version', 'agent', 'arm', 'outcome', 'error_code'])
export type StatsDimension = z.infer<typeof StatsDimension>

/** How long one point of a series is; `none` is one sum over the window. */
export const StatsInterval = z.enum(['none', 'minute', 'hour', 'day'])
export type StatsInterval = z.infer<typeof StatsInterval>

/** The query of counted calls: a window of at most 90 days (the last 24 hours unless told), filters, what to count by, and how finely. */
export const CallStatsQuery = z.strictObject({
  ...window,
  ...filters,
  arm: z.enum(['stable', 'canary']).optional(),
  outcome: z.string().max(32).optional(),
  error_code: z.string().max(64).optional(),
  group_by: z
    .string()
    .max(128)
    .default('')
    .transform((text) => (text === '' ? [] : text.split(',')))
    .pipe(
      z
        .array(StatsDimension)
        .max(3)
        .refine((names) => new Set(names).size === names.length, 'name each dimension once'),
    )
    .describe('up to three of skill, version, agent, arm, outcome and error_code, separated by commas'),
  interval: StatsInterval.default('none'),
  limit: z.coerce.number().int().min(1).max(limits.statsItems).default(1000),
})
export type CallStatsQuery = z.output<typeof CallStatsQuery>

/** Counted calls of one cell. Errors are whatever did not end well; failures are what is held against a version, and their rate leaves refusals out. */
export const CallStatsItem = z.object({
  at: Time.optional().describe('when the point of a series begins'),
  skill: z.string().optional(),
  version: z.string().nullable().optional().describe('null where none was chosen'),
  agent: z.string().optional(),
  arm: z.string().nullable().optional(),
  outcome: z.string().optional(),
  error_code: z.string().nullable().optional(),
  calls: z.number(),
  errors: z.number(),
  error_rate: z.number(),
  failures: z.number(),
  failure_rate: z.number().nullable(),
  mean_ms: z.number(),
  p50_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  p99_ms: z.number().nullable(),
  mean_output_bytes: z.number(),
})
export type CallStatsItem = z.infer<typeof CallStatsItem>

const counted = {
  from: Time.describe('where the window began that was counted: whole hours or days where those are counted'),
  to: Time,
  source: z.enum(['rows', 'hours', 'days']).describe('what was counted'),
}

/** Counted calls, the most frequent first, or a series in the order of time. */
export const CallStats = z.object({
  ...counted,
  items: z.array(CallStatsItem),
  cut: z.boolean().describe('whether there are more than were asked for'),
})
export type CallStats = z.infer<typeof CallStats>

/** The query of a comparison: a rollout, or two versions of a skill. */
export const CompareQuery = z.strictObject({
  ...window,
  rollout: z.string().max(64).optional(),
  skill: z.string().max(64).optional(),
  a: z.string().max(256).optional().describe('the version that is compared with'),
  b: z.string().max(256).optional().describe('the version that is judged'),
})
export type CompareQuery = z.output<typeof CompareQuery>

const Side = z.object({
  version: z.string().nullable(),
  arm: z.string().nullable(),
  units: z.number(),
  calls: z.number(),
  failures: z.number(),
  failure_rate: z.number().nullable().describe('the mean of what the units met, each counting once'),
  mean_ms: z.number().nullable(),
})
const Difference = z.object({
  difference: z.number().nullable().describe('b less a'),
  low: z.number().nullable(),
  high: z.number().nullable(),
  verdict: z.enum(['higher', 'lower', 'no_difference_seen', 'too_few_units']),
})

/** Two versions side by side, counted at the unit that was randomised. */
export const Comparison = z.object({
  by: z.enum(['rollout', 'versions']),
  randomised: z.boolean().describe('false where agents chose themselves what they called: then a difference need not be the version’s'),
  unit: z.string(),
  skill: z.string(),
  rollout_id: z.string().nullable(),
  a: Side,
  b: Side,
  units_in_both: z.number(),
  failure_rate: Difference,
  mean_ms: Difference,
  confidence: z.number(),
  least_units: z.number().describe('how many units each side needs for a verdict'),
})
export type Comparison = z.infer<typeof Comparison>

/** The query of a list of what was counted: a window, filters, and how many. */
export const StatsListQuery = z.strictObject({ ...window, ...filters, limit })
export type StatsListQuery = z.output<typeof StatsListQuery>

const list = <T extends z.ZodType>(item: T) => z.object({ ...counted, items: z.array(item), cut: z.boolean() })

/** The most frequent error codes, by skill. */
export const ErrorStats = list(z.object({ error_code: z.string(), outcome: z.string(), skill: z.string(), calls: z.number() }))
export type ErrorStats = z.infer<typeof ErrorStats>

/** Who was denied what, the most frequent first. */
export const DenialStats = list(z.object({ agent: z.string(), skill: z.string(), calls: z.number() }))
export type DenialStats = z.infer<typeof DenialStats>

/** Where arguments and answers miss their schemas, the most frequent first. */
export const ViolationStats = list(
  z.object({
    skill: z.string(),
    version: z.string().nullable(),
    side: z.enum(['input', 'output']),
    path: z.string().describe('a JSON pointer; * stands for any item'),
    rule: z.string(),
    calls: z.number(),
  }),
)
export type ViolationStats = z.infer<typeof ViolationStats>

/** How often calls were tried again, and how often that helped. */
export const AttemptStats = list(
  z.object({
    skill: z.string(),
    version: z.string().nullable(),
    calls: z.number(),
    attempts: z.number(),
    retried: z.number().describe('calls that were tried more than once'),
    recovered: z.number().describe('of those, the ones that ended well'),
  }),
)
export type AttemptStats = z.infer<typeof AttemptStats>

/** The query of what was shown or searched for. */
export const ShownStatsQuery = z.strictObject({ ...window, limit })
export type ShownStatsQuery = z.output<typeof ShownStatsQuery>

/** Skills that were shown and never called, those that were shown most first. */
export const UnusedStats = list(
  z.object({ skill: z.string(), listed: z.number(), loaded: z.number(), agents: z.number(), last_shown_at: Time.describe('the day') }),
)
export type UnusedStats = z.infer<typeof UnusedStats>

/** Searches that found nothing, the most frequent first. */
export const SearchStats = list(z.object({ query: z.string(), searches: z.number(), agents: z.number(), last_at: Time }))
export type SearchStats = z.infer<typeof SearchStats>

/** What refusals can be counted by. */
export const RefusalDimension = z.enum(['agent', 'code'])
export type RefusalDimension = z.infer<typeof RefusalDimension>

/** The query of counted refusals: a window, an agent, a code, what to count by, and how finely. */
export const RefusalStatsQuery = z.strictObject({
  ...window,
  agent: filters.agent,
  code: z.string().max(64).optional(),
  group_by: z
    .string()
    .max(32)
    .default('agent,code')
    .transform((text) => (text === '' ? [] : text.split(',')))
    .pipe(
      z
        .array(RefusalDimension)
        .max(2)
        .refine((names) => new Set(names).size === names.length, 'name each dimension once'),
    )
    .describe('agent, code, both separated by a comma, or nothing'),
  interval: StatsInterval.default('none'),
  limit: z.coerce.number().int().min(1).max(limits.statsItems).default(1000),
})
export type RefusalStatsQuery = z.output<typeof RefusalStatsQuery>

/** Requests that were turned away with 401, 429 or 503, the most frequent first, or a series in the order of time. */
export const RefusalStats = z.object({
  from: Time,
  to: Time,
  items: z.array(
    z.object({
      at: Time.optional().describe('when the point of a series begins'),
      agent: z.string().nullable().optional().describe('null where nobody knows who asked, and for agents too many to tell apart'),
      code: z.string().optional(),
      refusals: z.number(),
    }),
  ),
  cut: z.boolean().describe('whether there are more than were asked for'),
})
export type RefusalStats = z.infer<typeof RefusalStats>

/** What was said of the calls of each version. */
export const FeedbackStats = list(
  z.object({
    skill: z.string(),
    version: z.string().nullable(),
    calls: z.number().describe('calls that somebody said something of'),
    right_skill: z.number(),
    wrong_skill: z.number(),
    task_done: z.number(),
    task_not_done: z.number(),
  }),
)
export type FeedbackStats = z.infer<typeof FeedbackStats>
