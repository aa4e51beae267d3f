import { z } from 'zod'
import { limits } from './limits.ts'
import { Instant } from './times.ts'

const Time = z.string().describe('RFC 3339, UTC')

/** The query of the audit log. */
export const ListAuditQuery = z.strictObject({
  from: Instant.optional(),
  to: Instant.optional(),
  caller: z.string().max(64).optional(),
  action: z.string().max(64).optional(),
  subject: z.string().max(512).optional(),
  skill: z.string().max(128).optional(),
  cursor: z.string().max(512).optional(),
  limit: z.coerce.number().int().min(1).max(limits.pageItems).default(100),
})
export type ListAuditQuery = z.output<typeof ListAuditQuery>

/** Who changed what, when and why. */
export const AuditEntry = z.object({
  seq: z.number(),
  at: Time,
  caller: z.string(),
  role: z.string(),
  key_id: z.string().nullable(),
  action: z.string(),
  subject: z.string(),
  skill: z.string().nullable(),
  reason: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  revision: z.number(),
  hash: z.string().nullable().describe('its link in the chain'),
})
export type AuditEntry = z.infer<typeof AuditEntry>

/** A page of the audit log, newest first. */
export const AuditList = z.object({ items: z.array(AuditEntry), next_cursor: z.string().nullable() })
export type AuditList = z.infer<typeof AuditList>

/** Whether the chain of the audit log holds, and the first event at which it does not. */
export const AuditVerified = z.object({
  ok: z.boolean(),
  rows: z.number().describe('events that were looked at'),
  unverifiable: z.number().describe('events older than the chain, or than the install secret'),
  last_seq: z.number(),
  tail_checked: z
    .boolean()
    .describe('whether the replica that was asked knows how far the log went: it appended an event, or heard of one from another'),
  first_bad: z.object({ seq: z.number(), problem: z.string() }).nullable(),
})
export type AuditVerified = z.infer<typeof AuditVerified>
