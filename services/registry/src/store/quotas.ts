import { and, asc, eq, gt, isNull } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { Page, QuotaRow } from '../stored.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { quotas } from './tables/access.ts'

const columns = {
  id: quotas.id,
  agentId: quotas.agentId,
  skillKey: quotas.skillKey,
  connection: quotas.connection,
  perMinute: quotas.perMinute,
  perDay: quotas.perDay,
  reason: quotas.reason,
  createdBy: quotas.createdBy,
  createdAt: quotas.createdAt,
}

/** Limits on calls inside a transaction. */
export function quotasIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['quotas'] {
  return {
    insert: async ({ at, ...quota }) => {
      const inserted = await tx
        .insert(quotas)
        .values({ ...quota, createdAt: at, revision: await revision() })
        .onConflictDoNothing()
        .returning({ id: quotas.id })
      return inserted.length === 1
    },
    remove: async (id, at) => {
      const removed = await tx
        .update(quotas)
        .set({ removedAt: at, revision: await revision() })
        .where(and(eq(quotas.id, id), isNull(quotas.removedAt)))
        .returning(columns)
      return removed[0]
    },
  }
}

/** A page of the limits on calls, by id. */
export function listQuotas(db: Drizzle, page: Page): Promise<QuotaRow[]> {
  return db
    .select(columns)
    .from(quotas)
    .where(and(isNull(quotas.removedAt), page.after === undefined ? undefined : gt(quotas.id, page.after)))
    .orderBy(asc(quotas.id))
    .limit(page.limit)
}
