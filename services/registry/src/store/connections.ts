import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { connections } from './tables/access.ts'

/** Connections inside a transaction; a removed name may be given again. */
export function connectionsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['connections'] {
  return {
    insert: async ({ name, baseUrl, headers, at, by }) => {
      const row = { baseUrl, headers, createdAt: at, createdBy: by, removedAt: null, revision: await revision() }
      const existing = await tx
        .select({ removedAt: connections.removedAt })
        .from(connections)
        .where(eq(connections.name, name))
        .for('update')
      if (existing[0] !== undefined && existing[0].removedAt === null) return false
      await tx
        .insert(connections)
        .values({ name, ...row })
        .onConflictDoUpdate({ target: connections.name, set: row })
      return true
    },
    remove: async (name, at) => {
      const removed = await tx
        .update(connections)
        .set({ removedAt: at, revision: await revision() })
        .where(and(eq(connections.name, name), isNull(connections.removedAt)))
        .returning({ name: connections.name })
      return removed.length === 1
    },
  }
}
