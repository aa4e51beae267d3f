import { z } from 'zod'
import { maxSkillNameLength, skillNamePattern } from './names.ts'

/** What a call of a skill does to the world; only the first two are ever retried. */
export const Effects = z.enum(['read', 'idempotent', 'once'])
export type Effects = z.infer<typeof Effects>

/** What carries a call out. */
export const ExecutorSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('code') }),
  z.strictObject({
    kind: z.literal('http'),
    connection: z.string().min(1).max(64),
    path: z.string().startsWith('/').max(1024),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  }),
  z.strictObject({ kind: z.literal('mcp'), connection: z.string().min(1).max(64), tool: z.string().min(1).max(128) }),
])
export type ExecutorSpec = z.infer<typeof ExecutorSpec>

/** A user's words, the arguments they become, and what comes back when given. */
export const Example = z.strictObject({
  say: z.string().min(1).max(500),
  params: z.record(z.string(), z.unknown()),
  result: z.unknown().optional(),
})
export type Example = z.infer<typeof Example>

/** A refusal of the skill itself. */
export const SkillErrorSpec = z.strictObject({
  code: z
    .string()
    .regex(/^[A-Z][A-Z0-9_]*$/)
    .max(64),
  when: z.string().max(500).default(''),
  retryable: z.boolean().default(false),
})

/** A permission tag: `area[:verb[:resource…]]`, lower case, at most eight segments. */
export const PermissionTag = z
  .string()
  .max(255)
  .regex(
    /^[a-z0-9][a-z0-9._-]*(:[a-z0-9][a-z0-9._/-]*){0,7}$/,
    'a permission tag is lower case, `area[:verb[:resource]]`, at most 8 segments',
  )

const shortText = (max: number) => z.string().max(max)

const skillName = z
  .string()
  .max(maxSkillNameLength)
  .regex(skillNamePattern, 'a name is lower case letters, digits and single - or _, and starts with a letter')

/** What a version declares about itself: the front matter of SKILL.md, after parsing. */
export const Manifest = z.object({
  name: skillName,
  description: z.string().trim().min(1).max(1024),
  version: z.string(),
  when_to_use: shortText(4096).optional(),
  when_not_to_use: shortText(4096).optional(),
  input: shortText(4096).optional(),
  output: shortText(4096).optional(),
  summary: shortText(120).optional(),
  author: shortText(200).optional(),
  domain: z
    .string()
    .max(64)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'a domain is lower case words joined by -')
    .optional(),
  tags: z.array(shortText(64)).max(32).default([]),
  permission: z.array(PermissionTag).max(32),
  private: z.boolean().default(false),
  core: z.boolean().default(false),
  effects: Effects.default('once'),
  probe: skillName.optional(),
  timeout_ms: z.number().int().min(1).max(300_000).default(10_000),
  concurrency: z.number().int().min(1).max(10_000).optional(),
  max_result_bytes: z
    .number()
    .int()
    .min(1024)
    .max(32 * 1024 * 1024)
    .optional(),
  examples: z.array(Example).max(50).default([]),
  errors: z.array(SkillErrorSpec).max(50).default([]),
  executor: ExecutorSpec.optional(),
  unlocks: z.array(shortText(200)).max(200).default([]),
  approval: z.enum(['none', 'human']).default('none'),
  cost: shortText(500).optional(),
  license: shortText(500).optional(),
  compatibility: shortText(2000).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  'allowed-tools': z.union([z.string().max(4096), z.array(z.string().max(256)).max(200)]).optional(),
})
export type Manifest = z.infer<typeof Manifest>
