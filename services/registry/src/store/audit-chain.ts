import { canonicalJson } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import type { auditEvents } from './tables/installation.ts'

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
