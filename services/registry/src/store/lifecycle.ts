import { parseExact, type RolloutRecord, type VersionFacts } from '@repertoire/core'
import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { rolloutOf, rolloutRow } from './rollouts.ts'
import { connections } from './tables/access.ts'
import { lines, rollouts, skills, versions } from './tables/catalogue.ts'

/** The status of versions, lines and rollouts inside a transaction that holds their skill. */
export function lifecycleIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['lifecycle'] {
  return {
    facts: async ({ id, name }) => {
      const known = new Set(
        (await tx.select({ name: connections.name }).from(connections).where(isNull(connections.removedAt))).map((row) => row.name),
      )
      const pointers = await tx.select({ line: lines.line, stable: lines.stable }).from(lines).where(eq(lines.skillId, id))
      return {
        id,
        name,
        versions: await versionFacts(tx, id),
        stable: new Map(pointers.flatMap(({ line, stable }) => (stable === null ? [] : [[line, stable] as const]))),
        rollouts: await activeRollouts(tx, id),
        hasConnection: (connection) => known.has(connection),
      }
    },
    apply: async ({ id }, plan) => {
      const at = await revision()
      for (const { version, statusChangedAt, sunsetAt, ...change } of plan.versions)
        await tx
          .update(versions)
          .set({
            ...change,
            statusChangedAt: new Date(statusChangedAt),
            sunsetAt: sunsetAt === null ? null : new Date(sunsetAt),
            revision: at,
          })
          .where(and(eq(versions.skillId, id), eq(versions.version, version)))
      for (const line of plan.lines)
        await tx
          .insert(lines)
          .values({ skillId: id, ...line, revision: at })
          .onConflictDoUpdate({ target: [lines.skillId, lines.line], set: { stable: line.stable, revision: at } })
      for (const rollout of plan.rollouts) {
        const row = { ...rolloutRow(rollout), revision: at }
        await tx.insert(rollouts).values(row).onConflictDoUpdate({ target: rollouts.id, set: row })
      }
      await tx.update(skills).set({ revision: at }).where(eq(skills.id, id))
    },
  }
}

async function versionFacts(tx: DrizzleTx, skillId: string): Promise<VersionFacts[]> {
  const rows = await tx
    .select({
      version: versions.version,
      line: versions.line,
      status: versions.status,
      formerStatus: versions.formerStatus,
      statusReason: versions.statusReason,
      statusChangedAt: versions.statusChangedAt,
      replacement: versions.replacement,
      sunsetAt: versions.sunsetAt,
      permission: sql<string[]>`${versions.manifest}->'permission'`,
      connection: sql<string | null>`${versions.manifest}->'executor'->>'connection'`,
    })
    .from(versions)
    .where(eq(versions.skillId, skillId))
  return rows.flatMap((row) => {
    const semver = parseExact(row.version)
    if (semver === undefined) return []
    return [{ ...row, semver, statusChangedAt: row.statusChangedAt.toISOString(), sunsetAt: row.sunsetAt?.toISOString() ?? null }]
  })
}

async function activeRollouts(tx: DrizzleTx, skillId: string): Promise<RolloutRecord[]> {
  const rows = await tx
    .select()
    .from(rollouts)
    .where(and(eq(rollouts.skillId, skillId), inArray(rollouts.state, ['scheduled', 'running', 'paused'])))
  return rows.map(rolloutOf)
}
