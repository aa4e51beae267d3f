import { z } from 'zod'
import { AgentId } from './names.ts'
import { limits } from './limits.ts'
import { QuotaUse } from './quotas.ts'
import { TagPattern } from './tag-classes.ts'
import { Instant } from './times.ts'

/** What a caller may manage. */
export const Role = z.enum(['agent', 'publisher', 'operator', 'auditor', 'admin'])
export type Role = z.infer<typeof Role>

/** The body that registers an agent. */
export const CreateAgentBody = z.strictObject({
  id: AgentId,
  name: z.string().trim().min(1).max(200),
  role: Role.default('agent'),
  team: z.string().min(1).max(64).optional(),
  tenant: z.string().min(1).max(256).optional(),
  domains: z.array(z.string().min(1).max(64)).max(32).default([]),
})
export type CreateAgentBody = z.infer<typeof CreateAgentBody>

/** A registered agent. */
export const Agent = z.object({
  id: z.string(),
  name: z.string(),
  role: Role,
  team: z.string().nullable(),
  tenant: z.string().nullable(),
  domains: z.array(z.string()),
  disabled: z.boolean(),
  created_at: z.string(),
})
export type Agent = z.infer<typeof Agent>

/** A page of agents. */
export const AgentList = z.object({ items: z.array(Agent), next_cursor: z.string().nullable() })

/** What may be changed about an agent. */
export const PatchAgentBody = z
  .strictObject({
    name: z.string().trim().min(1).max(200).optional(),
    disabled: z.boolean().optional(),
    team: z.string().min(1).max(64).nullable().optional(),
    domains: z.array(z.string().min(1).max(64)).max(32).optional(),
  })
  .refine((value) => Object.keys(value).length > 0, 'name at least one thing to change')
export type PatchAgentBody = z.infer<typeof PatchAgentBody>

/** The body that makes a key. */
export const CreateKeyBody = z.strictObject({ expires_in_days: z.number().int().min(1).max(3650).default(90) })

/** A key without its secret. */
export const Key = z.object({
  id: z.string(),
  agent_id: z.string(),
  kind: z.string(),
  tail: z.string().describe('its last four characters'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe('to the minute'),
  rotated_to: z.string().nullable().describe('the key that takes its place'),
})
export type Key = z.infer<typeof Key>

/** The keys of an agent. */
export const KeyList = z.object({ items: z.array(Key), next_cursor: z.string().nullable() })

/** A new key; `key` is shown this once. */
export const CreatedKey = z.object({ id: z.string(), key: z.string(), agent_id: z.string(), expires_at: z.string().nullable() })
export type CreatedKey = z.infer<typeof CreatedKey>

/** The body that rotates a key: how long the old one stays good, and how long the new one is. */
export const RotateKeyBody = z.strictObject({
  overlap_hours: z.number().int().min(0).max(720).default(24),
  expires_in_days: z.number().int().min(1).max(3650).default(90),
})

/** A key in the place of another; `key` is shown this once. */
export const RotatedKey = CreatedKey.extend({ replaces: z.object({ id: z.string(), expires_at: z.string() }) })
export type RotatedKey = z.infer<typeof RotatedKey>

/** The body that grants (or denies) a tag pattern. */
export const CreateGrantBody = z.strictObject({
  pattern: TagPattern,
  reason: z.string().trim().min(8).max(1000),
  deny: z.boolean().default(false),
  accept_risk: z
    .boolean()
    .default(false)
    .describe('accepts that the agent then holds private data, untrusted content and a way out at once'),
  expires_at: Instant.optional(),
})
export type CreateGrantBody = z.infer<typeof CreateGrantBody>

/** A grant. */
export const Grant = z.object({
  id: z.string(),
  agent_id: z.string(),
  pattern: z.string(),
  deny: z.boolean(),
  reason: z.string(),
  granted_by: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
})
export type Grant = z.infer<typeof Grant>

/** What an agent holds. */
export const GrantList = z.object({ items: z.array(Grant), next_cursor: z.string().nullable() })

const GrantHeld = z.object({ pattern: z.string(), deny: z.boolean(), expires_at: z.string().nullable() })

/** Who is calling, and with what. */
export const Self = z.object({
  id: z.string(),
  role: Role,
  tenant: z.string().nullable(),
  domains: z.array(z.string()),
  grants: z.array(GrantHeld),
  on_behalf_of: z
    .object({ subject: z.string(), grants: z.array(GrantHeld) })
    .nullable()
    .describe('the user it asks for: both have to be allowed'),
  requirements: z.record(z.string(), z.record(z.string(), z.string())).describe('declared ranges, by instance'),
  quotas: z.array(QuotaUse).describe('its own limits on calls, and what it has used of them'),
})
export type Self = z.infer<typeof Self>

/** The body that names an executor's base URL; `headers` take their values from files or environment variables. */
export const CreateConnectionBody = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'a connection name is lower case letters, digits and -'),
  base_url: z.url({ protocol: /^https?$/ }).max(2048),
  headers: z
    .record(
      z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
      z.union([z.strictObject({ env: z.string().regex(/^[A-Z][A-Z0-9_]*$/) }), z.strictObject({ file: z.string().startsWith('/') })]),
    )
    .default({}),
})
export type CreateConnectionBody = z.infer<typeof CreateConnectionBody>

/** A connection; where a credential lies is shown, never the credential. */
export const Connection = z.object({
  name: z.string(),
  base_url: z.string(),
  headers: z.record(z.string(), z.string()),
  created_at: z.string(),
})
export type Connection = z.infer<typeof Connection>

/** The named connections. */
export const ConnectionList = z.object({ items: z.array(Connection), next_cursor: z.string().nullable() })

/** The query of a list that only pages. */
export const PageQuery = z.strictObject({
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(100),
})
export type PageQuery = z.infer<typeof PageQuery>

/** What a removal answers. */
export const Removed = z.object({ id: z.string(), removed: z.boolean() })
