import type { GrantRecord } from '@repertoire/core'
import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { GrantRow } from '../stored.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { grants } from './tables/access.ts'

type GrantInRow = Omit<GrantRecord, 'expiresAt'> & { readonly expiresAt: Date | null }

/** Grants inside a transaction. */
export function grantsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['grants'] {
  return {
    of: async (agentId) => (await listGrants(tx, agentId)).map(asRecord),
    insert: async ({ at, ...grant }) => {
      await tx.insert(grants).values({ ...grant, createdAt: at, revision: await revision() })
    },
    remove: async (agentId, grantId, at) => {
      const removed = await tx
        .update(grants)
        .set({ removedAt: at, revision: await revision() })
        .where(and(eq(grants.agentId, agentId), eq(grants.id, grantId), isNull(grants.removedAt)))
        .returning()
      return removed.map(asRecord)[0]
    },
  }
}

function asRecord({ id, agentId, pattern, deny, expiresAt }: GrantInRow): GrantRecord {
  return { id, agentId, pattern, deny, expiresAt: expiresAt?.getTime() ?? null }
}

/** What an agent holds, oldest first. */
export function listGrants(db: Drizzle | DrizzleTx, agentId: string): Promise<GrantRow[]> {
  return db
    .select({
      id: grants.id,
      agentId: grants.agentId,
      pattern: grants.pattern,
      deny: grants.deny,
      reason: grants.reason,
      grantedBy: grants.grantedBy,
      createdAt: grants.createdAt,
      expiresAt: grants.expiresAt,
    })
    .from(grants)
    .where(and(eq(grants.agentId, agentId), isNull(grants.removedAt)))
    .orderBy(asc(grants.id))
    .limit(1000)
}
