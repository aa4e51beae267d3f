import type { Transaction } from '../ports.ts'
import { and, desc, eq, gt } from 'drizzle-orm'
import type { DrizzleTx } from './connect.ts'
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

/** The audit log inside a transaction: the event is there exactly when the change is. */
export function auditIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['audit'] {
  return {
    append: async ({ caller, action, subject, skill, change, reason, before, after, at }) => {
      await tx.insert(auditEvents).values({
        at,
        action,
        subject,
        skill: skill ?? null,
        change: change ?? null,
        caller: caller.id,
        role: caller.role,
        keyId: caller.keyId,
        reason: reason ?? null,
        before: before ?? null,
        after: after ?? null,
        revision: await revision(),
      })
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
