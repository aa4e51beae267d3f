import { z } from 'zod'
import { AgentId } from './names.ts'

const Calls = z.number().int().min(1).max(100_000_000)

/** The body that limits calls: of an agent, of a skill, of an agent to a skill, or over a connection; by the minute, by the day, or both. */
export const CreateQuotaBody = z
  .strictObject({
    agent: AgentId.optional(),
    skill: z.string().min(1).max(64).optional(),
    connection: z.string().min(1).max(64).optional(),
    per_minute: Calls.optional(),
    per_day: Calls.optional(),
    reason: z.string().trim().min(8).max(1000),
  })
  .refine(
    ({ agent, skill, connection }) => (connection === undefined) !== (agent === undefined && skill === undefined),
    'name an agent, a skill, an agent and a skill, or a connection',
  )
  .refine((body) => body.per_minute !== undefined || body.per_day !== undefined, 'give per_minute, per_day, or both')
export type CreateQuotaBody = z.infer<typeof CreateQuotaBody>

/** A limit on calls. */
export const Quota = z.object({
  id: z.string(),
  agent: z.string().nullable(),
  skill: z.string().nullable(),
  connection: z.string().nullable(),
  per_minute: z.number().nullable(),
  per_day: z.number().nullable(),
  reason: z.string(),
  created_by: z.string(),
  created_at: z.string(),
})
export type Quota = z.infer<typeof Quota>

/** A page of the limits on calls. */
export const QuotaList = z.object({ items: z.array(Quota), next_cursor: z.string().nullable() })

const Spending = z.object({
  limit: z.number(),
  used: z.number().describe('as far as this replica has heard, which is a few seconds ago for calls through others'),
  resets_at: z.string(),
})

/** What an agent has used of one of its own limits. */
export const QuotaUse = z.object({
  skill: z.string().nullable().describe('the skill it is about; null for all calls of the agent'),
  minute: Spending.nullable(),
  day: Spending.nullable(),
})
export type QuotaUse = z.infer<typeof QuotaUse>
