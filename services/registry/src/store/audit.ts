import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { auditEvents } from './tables/installation.ts'

/** The audit log inside a transaction: the event is there exactly when the change is. */
export function auditIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['audit'] {
  return {
    append: async ({ caller, action, subject, reason, before, after, at }) => {
      await tx.insert(auditEvents).values({
        at,
        action,
        subject,
        caller: caller.id,
        role: caller.role,
        keyId: caller.keyId,
        reason: reason ?? null,
        before: before ?? null,
        after: after ?? null,
        revision: await revision(),
      })
    },
  }
}
