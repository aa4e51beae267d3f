import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { KeyRow } from '../stored.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { keys } from './tables/access.ts'

/** Keys inside a transaction. */
export function keysIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['keys'] {
  return {
    insert: async ({ at, by, ...key }) => {
      await tx.insert(keys).values({ ...key, createdAt: at, createdBy: by, revision: await revision() })
    },
    revoke: async (agentId, keyId, at) => {
      const revoked = await tx
        .update(keys)
        .set({ revokedAt: at, revision: await revision() })
        .where(and(eq(keys.agentId, agentId), eq(keys.id, keyId), isNull(keys.revokedAt)))
        .returning({ id: keys.id })
      return revoked.length === 1
    },
  }
}

/** The keys of an agent, oldest first. */
export function listKeys(db: Drizzle, agentId: string): Promise<KeyRow[]> {
  return db
    .select({
      id: keys.id,
      agentId: keys.agentId,
      kind: keys.kind,
      tail: keys.tail,
      createdAt: keys.createdAt,
      expiresAt: keys.expiresAt,
      revokedAt: keys.revokedAt,
    })
    .from(keys)
    .where(eq(keys.agentId, agentId))
    .orderBy(asc(keys.id))
    .limit(1000)
}
