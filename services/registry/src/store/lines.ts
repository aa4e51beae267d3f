import { and, eq, inArray } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { lines, rollouts } from './tables/catalogue.ts'

/** Lines inside a transaction. */
export function linesIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['lines'] {
  return {
    stable: async (skillId, line) =>
      (
        await tx
          .select({ stable: lines.stable })
          .from(lines)
          .where(and(eq(lines.skillId, skillId), eq(lines.line, line)))
      )[0]?.stable ?? null,
    setStable: async ({ skillId, line, stable }) => {
      const row = { skillId, line, stable, revision: await revision() }
      await tx
        .insert(lines)
        .values(row)
        .onConflictDoUpdate({ target: [lines.skillId, lines.line], set: { stable, revision: row.revision } })
    },
  }
}

/** Rollouts inside a transaction. */
export function rolloutsIn(tx: DrizzleTx): Transaction['rollouts'] {
  return {
    active: async (skillId, line) =>
      (
        await tx
          .select({ id: rollouts.id, candidate: rollouts.candidate })
          .from(rollouts)
          .where(and(eq(rollouts.skillId, skillId), eq(rollouts.line, line), inArray(rollouts.state, ['scheduled', 'running', 'paused'])))
      )[0],
  }
}
