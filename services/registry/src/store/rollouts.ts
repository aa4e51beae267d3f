import type { RolloutRecord } from '@repertoire/core'
import { and, desc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { RolloutQuery, StoredRollout } from '../stored.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { rollouts, skills } from './tables/catalogue.ts'
import { installation } from './tables/installation.ts'

type Row = typeof rollouts.$inferSelect

// Read in the same statement, so that what says revision N has content N.
const revisionNow = sql<number>`(select ${installation.revision} from ${installation})`.mapWith(Number)

/** Rollouts inside a transaction. */
export function rolloutsIn(tx: DrizzleTx): Transaction['rollouts'] {
  return {
    find: (id) => findRollout(tx, id),
  }
}

/** The salt of the newest rollout of a version, so that the next one chooses the same units; undefined before the first. */
export async function saltOf(db: Drizzle, skillId: string, version: string): Promise<string | undefined> {
  const rows = await db
    .select({ salt: rollouts.salt })
    .from(rollouts)
    .where(and(eq(rollouts.skillId, skillId), eq(rollouts.candidate, version)))
    .orderBy(desc(rollouts.id))
    .limit(1)
  return rows[0]?.salt
}

/** One rollout, ended or not; undefined when there is none of that id. */
export async function findRollout(db: Drizzle | DrizzleTx, id: string): Promise<StoredRollout | undefined> {
  const rows = await db
    .select({ rollout: rollouts, skill: skills.name, skillRevision: skills.revision, revision: revisionNow })
    .from(rollouts)
    .innerJoin(skills, eq(skills.id, rollouts.skillId))
    .where(eq(rollouts.id, id))
  return rows.map(({ rollout, ...rest }) => ({ rollout: rolloutOf(rollout), ...rest }))[0]
}

/** A page of rollouts, newest first; ids grow with time. */
export async function listRollouts(db: Drizzle, { skill, states, before, limit }: RolloutQuery): Promise<StoredRollout[]> {
  const rows = await db
    .select({ rollout: rollouts, skill: skills.name, skillRevision: skills.revision, revision: revisionNow })
    .from(rollouts)
    .innerJoin(skills, eq(skills.id, rollouts.skillId))
    .where(
      and(
        skill === undefined ? undefined : eq(skills.nameKey, skill),
        states === undefined ? undefined : inArray(rollouts.state, [...states]),
        before === undefined ? undefined : lt(rollouts.id, before),
      ),
    )
    .orderBy(desc(rollouts.id))
    .limit(limit)
  return rows.map(({ rollout, ...rest }) => ({ rollout: rolloutOf(rollout), ...rest }))
}

/** A row as the rules know it. */
export function rolloutOf({ revision: _revision, ...row }: Row): RolloutRecord {
  return {
    ...row,
    stepAt: row.stepAt?.toISOString() ?? null,
    startAt: row.startAt?.toISOString() ?? null,
    startedAt: row.startedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
  }
}

/** A rollout as the row that keeps it. */
export function rolloutRow(rollout: RolloutRecord): Omit<Row, 'revision'> {
  const time = (text: string | null): Date | null => (text === null ? null : new Date(text))
  return {
    ...rollout,
    allow: [...rollout.allow],
    deny: [...rollout.deny],
    steps: [...rollout.steps],
    stepAt: time(rollout.stepAt),
    startAt: time(rollout.startAt),
    startedAt: time(rollout.startedAt),
    createdAt: new Date(rollout.createdAt),
    updatedAt: new Date(rollout.updatedAt),
    endedAt: time(rollout.endedAt),
  }
}
