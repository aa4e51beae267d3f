import { z } from 'zod'
import { Effects, Example, ExecutorSpec } from './manifest.ts'
import { limits } from './limits.ts'

/** A remark that does not stop an answer. */
export const WarningShape = z.object({ code: z.string(), message: z.string() })

/** The status of a version. */
export const VersionStatus = z.enum(['candidate', 'released', 'deprecated', 'yanked', 'blocked'])
export type VersionStatus = z.infer<typeof VersionStatus>

const Time = z.string().describe('RFC 3339, UTC')

/** The version chosen and why. */
export const Resolution = z.object({
  version: z.string(),
  via: z.enum(['pinned', 'stable', 'canary', 'allow', 'session']),
  requested_range: z.string(),
  rollout_id: z.string().nullable(),
  warnings: z.array(WarningShape),
})
export type Resolution = z.infer<typeof Resolution>

/** One entry of a list of skills. */
export const SkillListItem = z.object({
  name: z.string(),
  version: z.string().nullable(),
  via: z.string().nullable(),
  status: VersionStatus.nullable(),
  description: z.string(),
  kind: z.enum(['http', 'mcp', 'code', 'playbook']),
  summary: z.string().optional(),
  when_to_use: z.string().optional(),
  when_not_to_use: z.string().optional(),
  domain: z.string().optional(),
  tags: z.array(z.string()).optional(),
  permission: z.array(z.string()).optional(),
  effects: Effects.optional(),
  schema_digest: z.string().optional(),
  input_schema: z.unknown().optional(),
  output_schema: z.unknown().optional(),
  examples: z.array(Example).optional(),
  warnings: z.array(WarningShape).optional(),
})
export type SkillListItem = z.infer<typeof SkillListItem>

/** A page of skills. */
export const SkillList = z.object({ items: z.array(SkillListItem), next_cursor: z.string().nullable() })
export type SkillList = z.infer<typeof SkillList>

/** How much of each skill a list shows. */
export const ListView = z.enum(['names', 'summary', 'full'])
export type ListView = z.infer<typeof ListView>

/** The query of a list of skills. */
export const ListSkillsQuery = z.strictObject({
  view: ListView.default('summary'),
  domain: z.string().max(64).optional(),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(100),
})
export type ListSkillsQuery = z.infer<typeof ListSkillsQuery>

/** One file of a version. */
export const SkillFile = z.object({ path: z.string(), bytes: z.number(), digest: z.string() })

/** One skill as it is resolved for the caller. */
export const SkillDetail = z.object({
  name: z.string(),
  version: z.string(),
  status: VersionStatus,
  kind: z.enum(['http', 'mcp', 'code', 'playbook']),
  description: z.string(),
  summary: z.string().nullable(),
  when_to_use: z.string().nullable(),
  when_not_to_use: z.string().nullable(),
  input: z.string().nullable(),
  output: z.string().nullable(),
  author: z.string().nullable(),
  domain: z.string().nullable(),
  permission: z.array(z.string()),
  private: z.boolean(),
  tags: z.array(z.string()),
  examples: z.array(Example),
  errors: z.array(z.object({ code: z.string(), when: z.string(), retryable: z.boolean() })),
  effects: Effects,
  probe: z.string().nullable().describe('the skill that is asked whether a lost call of this one took place'),
  timeout_ms: z.number(),
  executor: ExecutorSpec.nullable(),
  unlocks: z.array(z.string()),
  input_schema: z.unknown(),
  output_schema: z.unknown().nullable(),
  schema_digest: z.string(),
  digest: z.string(),
  instructions: z.string(),
  files: z.array(SkillFile),
  defaults: z.record(z.string(), z.unknown()).describe('what an import added beside the bytes'),
  extra: z.record(z.string(), z.unknown()).describe('front matter keys this registry does not know'),
  status_reason: z.string().nullable(),
  status_changed_at: Time,
  sunset_at: Time.nullable().describe('when a deprecated version goes away'),
  replacement: z.string().nullable(),
  published_at: Time,
  published_by: z.string(),
  measured: z
    .object({
      window: z.string(),
      calls: z.number(),
      p50_ms: z.number(),
      p95_ms: z.number(),
      result_bytes: z.number().describe('the mean of those that ended well'),
      error_rate: z.number().describe('the part that failed, refusals left out'),
    })
    .nullable()
    .describe('what calls of this version took lately; null when there were none'),
  resolution: Resolution,
})
export type SkillDetail = z.infer<typeof SkillDetail>

/** The query of one skill. */
export const DescribeSkillQuery = z.strictObject({ range: z.string().optional() })

/** One version in a list of versions. */
export const VersionListItem = z.object({
  version: z.string(),
  line: z.string(),
  status: VersionStatus,
  stable: z.boolean().describe('whether it is what its line serves'),
  rollout: z
    .object({ id: z.string(), state: z.string(), percent: z.number() })
    .nullable()
    .describe('the active rollout it is the candidate of'),
  digest: z.string(),
  schema_digest: z.string(),
  published_at: Time,
  published_by: z.string(),
  status_reason: z.string().nullable(),
  sunset_at: Time.nullable(),
  replacement: z.string().nullable(),
})

/** The versions of a skill, newest first. */
export const VersionList = z.object({ items: z.array(VersionListItem), next_cursor: z.string().nullable() })
export type VersionList = z.infer<typeof VersionList>

/** A map of skill name to range. */
export const Requires = z
  .record(z.string().min(1).max(128), z.string())
  .refine((value) => Object.keys(value).length <= limits.requirements, `at most ${limits.requirements} skills`)

/** The body of `POST /v1/resolve`. */
export const ResolveBody = z.strictObject({ requires: Requires })
export type ResolveBody = z.infer<typeof ResolveBody>

/** What each name resolves to, at one revision. */
export const ResolvedSet = z.object({
  revision: z.number(),
  resolved: z.record(
    z.string(),
    z.union([
      z.object({ version: z.string(), via: z.string(), schema_digest: z.string(), warnings: z.array(WarningShape) }),
      z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) }),
    ]),
  ),
})
export type ResolvedSet = z.infer<typeof ResolvedSet>

/** The body of `PUT /v1/agents/self/requirements`: it replaces what this instance had declared. */
export const DeclareBody = z.strictObject({ requires: Requires })

/** What an instance of an agent has declared. */
export const Declared = z.object({
  agent_id: z.string(),
  instance: z.string(),
  requires: z.record(z.string(), z.string()),
  changed: z.boolean(),
})
export type Declared = z.infer<typeof Declared>

/** One file of a bundle: its text, or its bytes as base64. */
export const BundleFile = z.union([z.string(), z.strictObject({ base64: z.string() })])

/** The JSON body of a publish. `defaults` fills in keys that the front matter lacks and is stored beside it. */
export const PublishBody = z.strictObject({
  files: z.record(z.string(), BundleFile),
  defaults: z.strictObject({ version: z.string().optional(), permission: z.array(z.string()).optional() }).optional(),
  folder: z.string().max(255).optional().describe('the folder the files lay in, to compare with the name'),
})
export type PublishBody = z.infer<typeof PublishBody>

/** The query of a publish. */
export const PublishQuery = z.strictObject({
  dry_run: z.enum(['true', 'false']).default('false'),
  allow_similar_name: z.enum(['true', 'false']).default('false'),
})

/** One finding of a check. */
export const Finding = z.object({
  level: z.enum(['error', 'warning']),
  file: z.string(),
  line: z.number().nullable(),
  message: z.string(),
  fix: z.string().nullable(),
})
export type Finding = z.infer<typeof Finding>

/** What a publish answers. */
export const Published = z.object({
  name: z.string(),
  version: z.string(),
  status: VersionStatus,
  digest: z.string(),
  schema_digest: z.string(),
  created: z.boolean(),
  report: z.object({ findings: z.array(Finding) }),
})
export type Published = z.infer<typeof Published>

/** The body of a transfer: the team that owns the skill from now on, or nobody's. */
export const TransferBody = z.strictObject({ team: z.string().min(1).max(64).nullable(), reason: z.string().trim().min(8).max(1000) })

/** What a transfer answers. */
export const Transferred = z.object({
  name: z.string(),
  team: z.string().nullable(),
  previous_team: z.string().nullable(),
  changed: z.boolean(),
})
export type Transferred = z.infer<typeof Transferred>

/** The body of an operator's command: why it is given. */
export const ReasonBody = z.strictObject({ reason: z.string().trim().min(8).max(1000) })
