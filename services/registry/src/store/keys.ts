import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { KeyUses, Transaction } from '../ports.ts'
import type { KeyRow } from '../stored.ts'
import type { Database, Drizzle, DrizzleTx } from './connect.ts'
import { keys } from './tables/access.ts'

const columns = {
  id: keys.id,
  agentId: keys.agentId,
  kind: keys.kind,
  tail: keys.tail,
  createdAt: keys.createdAt,
  expiresAt: keys.expiresAt,
  revokedAt: keys.revokedAt,
  lastUsedAt: keys.lastUsedAt,
  rotatedTo: keys.rotatedTo,
}

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
    find: async (agentId, keyId) =>
      (
        await tx
          .select(columns)
          .from(keys)
          .where(and(eq(keys.agentId, agentId), eq(keys.id, keyId)))
      )[0],
    rotate: async ({ keyId, to, expiresAt }) => {
      await tx
        .update(keys)
        .set({ rotatedTo: to, expiresAt, revision: await revision() })
        .where(eq(keys.id, keyId))
    },
  }
}

/** The keys of an agent, oldest first. */
export function listKeys(db: Drizzle, agentId: string): Promise<KeyRow[]> {
  return db.select(columns).from(keys).where(eq(keys.agentId, agentId)).orderBy(asc(keys.id)).limit(1000)
}

const everyMs = 60_000

/** Notes which keys are used, and writes it down at most once a minute for each; a use that is not written is no loss. */
export function createKeyUses({ general }: Database): KeyUses & { readonly stop: () => Promise<void> } {
  let used = new Set<string>()
  const write = async (): Promise<void> => {
    const ids = [...used]
    used = new Set()
    if (ids.length === 0) return
    const written = general.gate.run(() =>
      general.db
        .update(keys)
        .set({ lastUsedAt: sql`now()` })
        .where(inArray(keys.id, ids)),
    )
    await written.catch(() => undefined)
  }
  const timer = setInterval(() => void write(), everyMs)
  timer.unref()
  return {
    note: (keyId) => void used.add(keyId),
    stop: async () => {
      clearInterval(timer)
      await write()
    },
  }
}
