import { z } from 'zod'
import { limits } from './limits.ts'
import { Redaction } from './redaction.ts'

/** The body of a call. */
export const CallBody = z.strictObject({
  range: z.string().optional(),
  arguments: z.unknown().optional(),
  expect_version: z.string().max(256).optional(),
  session: z.string().min(1).max(256).optional(),
  tenant: z.string().min(1).max(256).optional(),
  parent_call_id: z.string().max(64).optional(),
  dry_run: z.boolean().default(false),
  timeout_ms: z.number().int().min(1).max(limits.timeoutMs).optional(),
  max_result_bytes: z.number().int().min(1024).max(limits.resultBytesHardCap).optional(),
  intent: z.string().max(500).optional(),
  labels: z
    .record(z.string().max(64), z.string().max(256))
    .refine((value) => Object.keys(value).length <= limits.labels, `at most ${limits.labels} labels`)
    .optional(),
})
export type CallBody = z.infer<typeof CallBody>

/** What a dry run answers: what would have been executed, with what. */
export const DryRun = z.object({
  would_call: z.object({ skill: z.string(), version: z.string(), via: z.string() }),
  arguments: z.unknown(),
})

/** One row of the call log. */
export const CallRow = z.object({
  call_id: z.string(),
  state: z.enum(['done', 'running']).describe('running while a call that was told to the log has no end yet'),
  ts: z.string(),
  replica: z.string(),
  trace_id: z.string().nullable(),
  session: z.string().nullable(),
  tenant: z.string().nullable(),
  agent_id: z.string(),
  key_id: z.string().nullable(),
  on_behalf_of: z.string().nullable(),
  parent_call_id: z.string().nullable(),
  playbook: z.string().nullable(),
  skill: z.string(),
  requested_range: z.string().nullable(),
  version: z.string().nullable(),
  version_digest: z.string().nullable(),
  via: z.string().nullable(),
  rollout_id: z.string().nullable(),
  arm: z.string().nullable(),
  unit_kind: z.string().nullable(),
  unit_hash: z.string().nullable(),
  revision: z.number(),
  executor: z.string().nullable(),
  attempts: z.number(),
  outcome: z.string().describe('how it ended; of a running call `unknown`, and nothing more'),
  settled: z
    .object({
      happened: z.boolean(),
      by: z.string(),
      reason: z.string(),
      at: z.string(),
      probe: z
        .object({ skill: z.string(), version: z.string(), call_id: z.string() })
        .optional()
        .describe('the probe that told, and the call in which it did; absent where a person settled it'),
    })
    .nullable()
    .describe('what was found out later about a call whose outcome was unknown'),
  probed: z
    .object({
      tries: z.number(),
      call_id: z.string().nullable().describe('the last call of the probe; one that was turned away for want of room has no row'),
      note: z.string(),
      next_at: z.string().nullable().describe('when the probe is asked again; null when the rest is left to an operator'),
    })
    .nullable()
    .describe('what asking the probe of a call with outcome unknown has come to, as long as it has not settled it'),
  error_code: z.string().nullable(),
  error_origin: z.string().nullable(),
  error_message: z.string().nullable(),
  violations: z.array(z.object({ path: z.string(), rule: z.string() })),
  queue_ms: z.number().nullable(),
  executor_ms: z.number().nullable(),
  total_ms: z.number(),
  input_bytes: z.number(),
  output_bytes: z.number(),
  input_sha256: z.string().nullable(),
  input: z.unknown(),
  output: z.unknown(),
  payload_withheld: z.boolean().describe('whether input and output are kept from this reader, who lacks payload:read'),
  truncated: z.boolean(),
  redaction: Redaction.describe('what was taken out of this row before it was kept'),
  intent: z.string().nullable(),
  replay_of: z.string().nullable(),
  dry_run: z.boolean(),
  authz_rule: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
})
export type CallRow = z.infer<typeof CallRow>

/** What somebody says of a call afterwards: whether it was the right skill, whether the task was done with it, and a word on that. */
export const FeedbackBody = z
  .strictObject({
    right_skill: z.boolean().optional(),
    task_done: z.boolean().optional(),
    note: z.string().trim().min(1).max(500).optional(),
  })
  .refine((value) => Object.keys(value).length > 0, 'say at least one thing')
export type FeedbackBody = z.infer<typeof FeedbackBody>

/** What was said of a call; what was not said this time is as it was said before. */
export const Feedback = z.object({
  call_id: z.string(),
  right_skill: z.boolean().nullable(),
  task_done: z.boolean().nullable(),
  note: z.string().nullable(),
  by: z.string(),
  at: z.string(),
})
export type Feedback = z.infer<typeof Feedback>

/** A page of the call log, newest first. */
export const CallList = z.object({ items: z.array(CallRow), next_cursor: z.string().nullable() })
export type CallList = z.infer<typeof CallList>

const Instant = z.iso.datetime({ offset: true })

/** The query of the call log: a window of at most 90 days (the last 24 hours unless told), and filters. */
export const ListCallsQuery = z.strictObject({
  from: Instant.optional(),
  to: Instant.optional(),
  skill: z.string().max(64).optional(),
  version: z.string().max(256).optional(),
  agent: z.string().max(128).optional(),
  outcome: z.string().max(32).optional(),
  error_code: z.string().max(64).optional(),
  via: z.enum(['pinned', 'stable', 'canary', 'allow', 'session']).optional(),
  rollout: z.string().max(64).optional(),
  session: z.string().max(256).optional(),
  trace: z.string().max(64).optional(),
  min_duration_ms: z.coerce.number().min(0).optional(),
  dry_run: z.enum(['true', 'false']).optional(),
  q: z.string().min(3).max(200).optional().describe('a part of the text of the input'),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(50),
})
export type ListCallsQuery = z.infer<typeof ListCallsQuery>

/** The query of one call: how long to wait, in seconds, for one that is under way. */
export const GetCallQuery = z.strictObject({ wait: z.coerce.number().int().min(0).max(30).optional() })

/** The body that asks for the end of a call. */
export const CancelBody = z.strictObject({ reason: z.string().trim().min(1).max(500).optional() })

/** What asking for the end of a call answers. */
export const Cancelled = z.object({ call_id: z.string(), cancel_requested: z.boolean() })
export type Cancelled = z.infer<typeof Cancelled>

/** The body that says what became of a call whose outcome is unknown. */
export const SettleBody = z.strictObject({ happened: z.boolean(), reason: z.string().trim().min(8).max(1000) })
export type SettleBody = z.infer<typeof SettleBody>

/** The query of a whole result: a cursor for the next piece, or some items of an array, or some lines of a text, both from 0. */
export const ResultQuery = z
  .strictObject({
    cursor: z.string().max(512).optional(),
    items: z
      .string()
      .regex(/^\d{1,9}-\d{1,9}$/, 'write the first and the last item, such as 0-99')
      .optional(),
    lines: z
      .string()
      .regex(/^\d{1,9}-\d{1,9}$/, 'write the first and the last line, such as 0-99')
      .optional(),
  })
  .refine((query) => Object.values(query).filter((value) => value !== undefined).length <= 1, 'give one of cursor, items and lines')
export type ResultQuery = z.infer<typeof ResultQuery>

/** A part of a whole result. Pieces by cursor, one after the other, are the result's exact text. */
export const ResultPart = z.object({
  call_id: z.string(),
  total_bytes: z.number(),
  text: z.string().nullable().describe('the next piece of the exact text'),
  items: z.array(z.unknown()).nullable(),
  lines: z.array(z.string()).nullable(),
  next: z.string().nullable().describe('where the next part is; null after the last'),
})
export type ResultPart = z.infer<typeof ResultPart>

/** The body that repeats a recorded call: a dry run unless told otherwise, with the range of then unless told another. */
export const ReplayBody = z.strictObject({ dry_run: z.boolean().default(true), range: z.string().optional() })
export type ReplayBody = z.infer<typeof ReplayBody>

const streamed = ListCallsQuery.omit({ cursor: true, limit: true })

/** The query of a tail: filters, and after which event it goes on, for those who cannot send Last-Event-ID. */
export const TailQuery = streamed.omit({ from: true, to: true }).extend({
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
})
export type TailQuery = z.output<typeof TailQuery>

/** The query of an export: a window, filters, and its form. */
export const ExportQuery = streamed.extend({ format: z.enum(['ndjson', 'csv']).default('ndjson') })
export type ExportQuery = z.output<typeof ExportQuery>
