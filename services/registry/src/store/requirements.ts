import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { requirements } from './tables/access.ts'

/** Declared ranges inside a transaction. */
export function requirementsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['requirements'] {
  return {
    replace: async ({ agentId, instance, requires, at }) => {
      const atRevision = await revision()
      const rows = [...requires].map(([skillKey, { skill, range }]) => ({
        agentId,
        instance,
        skillKey,
        skill,
        range,
        declaredAt: at,
        revision: atRevision,
      }))
      await tx
        .update(requirements)
        .set({ range: null, declaredAt: at, revision: atRevision })
        .where(and(eq(requirements.agentId, agentId), eq(requirements.instance, instance)))
      if (rows.length === 0) return
      await tx
        .insert(requirements)
        .values(rows)
        .onConflictDoUpdate({
          target: [requirements.agentId, requirements.instance, requirements.skillKey],
          set: { skill: sql`excluded.skill`, range: sql`excluded.range`, declaredAt: at, revision: atRevision },
        })
    },
  }
}
