import { z } from 'zod'
import { limits } from './limits.ts'
import { VersionStatus } from './skills.ts'
import { Day, Instant } from './times.ts'

const Time = z.string().describe('RFC 3339, UTC')
const Reason = z.string().trim().min(8).max(1000).describe('why now; kept in the audit log')

/** A percentage of units, 0 to 100 with at most two decimals. */
export const Percent = z
  .number()
  .min(0, 'a percentage is from 0 to 100')
  .max(100, 'a percentage is from 0 to 100')
  .refine((value) => Math.abs(value * 100 - Math.round(value * 100)) < 1e-6, 'a percentage has at most two decimals')

/** How long something lasts, such as 30s, 15m, 2h or 1d. */
export const Duration = z
  .string()
  .regex(/^\d{1,6}(s|m|h|d)$/, 'write a duration such as 30s, 15m, 2h or 1d')
  .describe('such as 30s, 15m, 2h or 1d')

/** One step of a scheduled rollout: the share it exposes, and how long that stays before the next. */
export const RolloutStep = z.strictObject({ percent: Percent, dwell: Duration.default('0s') })

/** What a rollout randomises over. */
export const UnitKind = z.enum(['agent', 'session', 'tenant', 'call'])

/** Where a rollout stands. */
export const RolloutState = z.enum(['scheduled', 'running', 'paused', 'promoted', 'rolled_back', 'cancelled'])

const AgentIds = z.array(z.string().min(1).max(64)).max(limits.rolloutAgents)

/** The body of `POST /v1/skills/{name}/rollouts`. */
export const StartRolloutBody = z
  .strictObject({
    version: z.string().min(1).max(256),
    percent: Percent.optional().describe('the share at the start; that of the first step unless given'),
    unit: UnitKind.default('agent'),
    allow: AgentIds.default([]).describe('agents that get the candidate whatever the percentage'),
    deny: AgentIds.default([]).describe('agents that never get it; this wins over everything'),
    steps: z.array(RolloutStep).max(limits.rolloutSteps).default([]),
    start_at: Instant.optional().describe('when it begins by itself; at once unless given'),
    force: z.boolean().default(false).describe('start although nobody would be selected'),
    reason: Reason,
  })
  .refine((body) => body.percent !== undefined || body.steps.length > 0, { path: ['percent'], message: 'give a percentage, or steps' })
  .refine((body) => body.steps.every((step, index) => index === 0 || step.percent > (body.steps[index - 1]?.percent ?? 0)), {
    path: ['steps'],
    message: 'every step exposes more than the one before',
  })
  .refine((body) => body.percent === undefined || body.steps[0] === undefined || body.percent <= body.steps[0].percent, {
    path: ['percent'],
    message: 'the percentage at the start is at most that of the first step',
  })
export type StartRolloutBody = z.output<typeof StartRolloutBody>

/** The body of promote and release: why, and the permission tags that they may add to what the line needs. */
export const PromoteBody = z.strictObject({ reason: Reason, accept_tags: z.array(z.string().min(1).max(255)).max(64).default([]) })

/** The body of set-percent. */
export const SetPercentBody = z.strictObject({ percent: Percent, reason: Reason })

/** The body of deprecate, with the date on which the version goes away and what replaces it. */
export const DeprecateBody = z.strictObject({
  reason: Reason,
  sunset: z
    .union([Instant, Day], 'write a day such as 2026-12-31, or a time, from 1970 to the end of 9999 in UTC')
    .optional()
    .describe('when it goes away: a date, or a time'),
  replacement: z.string().min(1).max(256).optional(),
})

/** The body of yank and block, with what replaces the version. */
export const WithdrawBody = z.strictObject({ reason: Reason, replacement: z.string().min(1).max(256).optional() })

/** The body of a revert: the version the line is to serve again. */
export const RevertBody = z.strictObject({
  to: z.string().min(1).max(256),
  reason: Reason,
  accept_tags: z.array(z.string().min(1).max(255)).max(64).default([]).describe('tags that it needs and what the line serves does not'),
})

/** The query of every command: only show what it would do, or wait until all replicas have applied it. */
export const CommandQuery = z.strictObject({
  dry_run: z.enum(['true', 'false']).default('false'),
  wait: z
    .string()
    .regex(/^\d{1,5}(ms|s)$/, 'write a wait such as 3s or 500ms')
    .refine(
      (text) => Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : 1000) <= limits.waitMs,
      `wait at most ${limits.waitMs / 1000}s`,
    )
    .optional()
    .describe('how long to wait for all replicas, such as 3s'),
})
export type CommandQuery = z.output<typeof CommandQuery>

const propagation = {
  changed: z.boolean().describe('false when there was nothing to do'),
  revision: z.number().describe('the revision from which this holds'),
  applied: z.array(z.string()).optional().describe('replicas that obey, when the command waited'),
  lagging: z.array(z.string()).optional().describe('replicas that are alive and do not yet'),
  unreachable: z.array(z.string()).optional().describe('replicas that were not heard of lately'),
}

/** A rollout: a line's traffic plan for one candidate. */
export const Rollout = z.object({
  id: z.string(),
  skill: z.string(),
  line: z.string(),
  version: z.string(),
  previous_stable: z.string().nullable().describe('what the line served when it began; once promoted, what it replaced'),
  state: RolloutState,
  paused_reason: z.enum(['manual', 'conflict', 'held']).nullable(),
  paused_note: z.string().nullable(),
  percent: z.number(),
  unit: UnitKind,
  allow: z.array(z.string()),
  deny: z.array(z.string()),
  steps: z.array(z.object({ percent: z.number(), dwell: z.string() })),
  step: z.number().describe('the step in force, from 1; 0 before the first'),
  next_move_at: Time.nullable().describe('when it moves by itself next'),
  start_at: Time.nullable(),
  started_at: Time.nullable().describe('when it first exposed anybody'),
  reason: z.string(),
  created_by: z.string(),
  created_at: Time,
  updated_at: Time,
  ended_at: Time.nullable(),
  possible: z.array(z.string()).describe('the commands it takes now'),
})
export type Rollout = z.infer<typeof Rollout>

/** What a command on a rollout answers. */
export const RolloutChanged = Rollout.extend({ stable: z.string().nullable().describe('what the line serves now'), ...propagation })
export type RolloutChanged = z.infer<typeof RolloutChanged>

/** What a command on a version or a line answers. */
export const LineChanged = z.object({
  name: z.string(),
  line: z.string(),
  version: z.string(),
  status: VersionStatus,
  stable: z.string().nullable(),
  previous_stable: z.string().nullable(),
  yanked: z.array(z.string()).describe('versions that were yanked along with it'),
  rollouts: z.array(z.string()).describe('rollouts that ended or were held along with it'),
  ...propagation,
})
export type LineChanged = z.infer<typeof LineChanged>

/** One agent, with the range it works with, and what it gets before and after. */
export const Affected = z.object({
  agent: z.string(),
  range: z.string(),
  from: z.string().nullable(),
  to: z.string().nullable(),
  calls_7d: z.number(),
  reason: z.string().nullable(),
})
export type Affected = z.infer<typeof Affected>

/** What a command would do, by the same resolution that serves calls. */
export const DryRunReport = z.object({
  dry_run: z.literal(true),
  would_change: z.boolean(),
  would_move: z.array(Affected),
  would_be_denied: z.array(Affected),
  unreachable: z.array(Affected).describe('who would get no version at all'),
  exact_pins_not_moved: z.array(Affected),
  selected_units: z.number().nullable().describe('units the percentage selects; null where nobody can count them beforehand'),
  population: z.number().nullable().describe('units that could be selected'),
  calls_known: z.boolean().describe('whether the call log could be asked for what agents called lately'),
  versions: z.array(z.object({ version: z.string(), from: z.string().nullable(), to: z.string() })),
  lines: z.array(z.object({ line: z.string(), from: z.string().nullable(), to: z.string().nullable() })),
  rollouts: z.array(z.object({ id: z.string().nullable(), version: z.string(), state: RolloutState, percent: z.number() })),
})
export type DryRunReport = z.infer<typeof DryRunReport>

/** The query of a list of rollouts. */
export const ListRolloutsQuery = z.strictObject({
  skill: z.string().max(128).optional(),
  state: z.union([RolloutState, z.literal('active')]).optional(),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(100),
})
export type ListRolloutsQuery = z.output<typeof ListRolloutsQuery>

/** A page of rollouts, newest first. */
export const RolloutList = z.object({ items: z.array(Rollout), next_cursor: z.string().nullable() })

/** The query of dependents: how many days of calls count. */
export const DependentsQuery = z.strictObject({ days: z.coerce.number().int().min(1).max(90).default(7) })
export type DependentsQuery = z.output<typeof DependentsQuery>

/** Who depends on a skill: an instance that declared a range, or an agent that called with one. */
export const Dependent = z.object({
  agent: z.string(),
  instance: z.string().nullable().describe('null when the range was seen in calls alone'),
  range: z.string(),
  declared_at: Time.nullable(),
  version: z.string().nullable().describe('what it gets now'),
  via: z.string().nullable(),
  status: VersionStatus.nullable(),
  problem: z.string().nullable().describe('why it gets nothing, when it does'),
  calls: z.number(),
  last_call_at: Time.nullable(),
  versions: z.record(z.string(), z.number()).describe('calls by the version that carried them out'),
})
export type Dependent = z.infer<typeof Dependent>

/** Everybody who depends on a skill. */
export const Dependents = z.object({ skill: z.string(), days: z.number(), items: z.array(Dependent), next_cursor: z.string().nullable() })
export type Dependents = z.infer<typeof Dependents>

/** The query of a look back: who, when, and what else it would have sent. */
export const ResolutionAtQuery = z.strictObject({
  agent: z.string().min(1).max(64),
  at: Instant.optional().describe('now unless given'),
  range: z.string().optional(),
  instance: z.string().max(256).optional(),
  session: z.string().max(256).optional(),
  tenant: z.string().max(256).optional(),
})
export type ResolutionAtQuery = z.output<typeof ResolutionAtQuery>

/** What an agent would have got at a time, and the last call of it before then that the log holds. */
export const ResolutionAt = z.object({
  skill: z.string(),
  agent: z.string(),
  at: Time,
  ranges: z.array(z.string()),
  version: z.string().nullable(),
  via: z.string().nullable(),
  warnings: z.array(z.object({ code: z.string(), message: z.string() })),
  problem: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }).nullable(),
  missing_tags: z.array(z.string()).describe('tags of the version that the agent did not hold, so that a call was denied'),
  stable: z.record(z.string(), z.string()).describe('what each line served'),
  rollouts: z.array(z.object({ id: z.string(), version: z.string(), state: RolloutState, percent: z.number() })),
  last_change: z.object({ at: Time, by: z.string(), action: z.string(), reason: z.string().nullable() }).nullable(),
  last_call: z
    .object({ call_id: z.string(), ts: Time, version: z.string().nullable(), via: z.string().nullable(), range: z.string().nullable() })
    .nullable(),
})
export type ResolutionAt = z.infer<typeof ResolutionAt>
