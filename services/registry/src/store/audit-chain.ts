import { canonicalJson } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import { eq } from 'drizzle-orm'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { auditEvents } from './tables/installation.ts'

/** The action of the event with which another install secret takes over. */
export const secretRenewed = 'installation.secret'

/** An event without its place in the chain. */
export type Unchained = Omit<typeof auditEvents.$inferInsert, 'hash' | 'previousHash' | 'seq'>

/**
 * The link of an event: a keyed hash over it and the link before, so that nobody without the install secret can change, drop
 * or move an event without the chain breaking there.
 */
export function linkOf(secret: Uint8Array, previous: string | null, event: Unchained): string {
  const { at, caller, role, keyId, action, subject, skill, change, reason, before, after, revision } = event
  const told = canonicalJson({
    at: at.toISOString(),
    caller,
    role,
    key_id: keyId ?? null,
    action,
    subject,
    skill: skill ?? null,
    change: change ?? null,
    reason: reason ?? null,
    before: before ?? null,
    after: after ?? null,
    revision,
  })
  return createHmac('sha256', secret)
    .update(`audit\n${previous ?? ''}\n${told}`)
    .digest('hex')
}

/** Where the chain ended when an event was appended. */
export type AuditHead = { readonly seq: number; readonly hash: string }

/** An end, and the link of the event it was appended behind. */
export type NewHead = AuditHead & { readonly previous: string | null }

/** The link of an event; null when it has none, undefined when there is no such event. */
export async function linkAt(db: Drizzle | DrizzleTx, seq: number): Promise<string | null | undefined> {
  const [found] = await db.select({ hash: auditEvents.hash }).from(auditEvents).where(eq(auditEvents.seq, seq))
  return found?.hash
}

/** What is wrong with an end that is kept, by what the database holds in its place; undefined when it is there. */
export function whatBecameOf(head: AuditHead, found: string | null | undefined): string | undefined {
  if (found === head.hash) return undefined
  return found === undefined ? 'the event is gone, and others were appended behind it' : 'it is not the event that was appended'
}
