import { and, desc, eq, gt, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import { linkAt, linkOf, whatBecameOf, type NewHead } from './audit-chain.ts'
import { headChannel, tellHead } from './audit-heads.ts'
import type { DrizzleTx } from './connect.ts'
import type { KeptHead } from './kept-head.ts'
import { auditEvents } from './tables/installation.ts'

/** The columns of an event that are read back. */
export const auditRow = {
  at: auditEvents.at,
  caller: auditEvents.caller,
  action: auditEvents.action,
  subject: auditEvents.subject,
  reason: auditEvents.reason,
  change: auditEvents.change,
  revision: auditEvents.revision,
}

/** What the audit log of a transaction works with. */
export type AuditTools = {
  readonly revision: () => Promise<number>
  readonly secret: Uint8Array
  readonly kept?: KeptHead | undefined
  readonly appended: (head: NewHead) => void
}

const chainLock = 0x52415544

/** The audit log inside a transaction: the event is there exactly when the change is, and the next link of the chain. */
export function auditIn(tx: DrizzleTx, { revision, secret, kept, appended }: AuditTools): Transaction['audit'] {
  return {
    append: async ({ caller, action, subject, skill, change, reason, before, after, at }) => {
      // The revision is taken first, whatever else is written: lock order is skill, revision, audit head.
      const atRevision = await revision()
      await tx.execute(sql`select pg_advisory_xact_lock(${chainLock})`)
      await requireKeptEnd(tx, kept)
      const [last] = await tx.select({ hash: auditEvents.hash }).from(auditEvents).orderBy(desc(auditEvents.seq)).limit(1)
      const event = {
        at,
        action,
        subject,
        skill: skill ?? null,
        change: plain(change),
        caller: caller.id,
        role: caller.role,
        keyId: caller.keyId,
        reason: reason ?? null,
        before: plain(before),
        after: plain(after),
        revision: atRevision,
      }
      const previousHash = last?.hash ?? null
      const hash = linkOf(secret, previousHash, event)
      const [row] = await tx
        .insert(auditEvents)
        .values({ ...event, previousHash, hash })
        .returning({ seq: auditEvents.seq })
      if (row === undefined) return
      const head = { seq: row.seq, hash, previous: previousHash }
      await tx.execute(sql`select pg_notify(${headChannel}, ${tellHead(secret, head)})`)
      appended(head)
    },
    lastAbout: async (skill, after) =>
      (
        await tx
          .select(auditRow)
          .from(auditEvents)
          .where(and(eq(auditEvents.skill, skill), gt(auditEvents.revision, after)))
          .orderBy(desc(auditEvents.seq))
          .limit(1)
      )[0],
  }
}

// Appending to what is left of a chain would make it whole again: that it was not is kept first.
async function requireKeptEnd(tx: DrizzleTx, kept: KeptHead | undefined): Promise<void> {
  const known = await kept?.read()
  if (known === undefined || known === 'unreadable' || known.broken !== null) return
  const problem = whatBecameOf(known.head, await linkAt(tx, known.head.seq))
  if (problem !== undefined) kept?.markBroken(known.head.seq, problem)
}

// As the database will give it back: what JSON leaves out is left out of the link as well.
function plain<T>(value: T | undefined): T | null {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as T)
}
