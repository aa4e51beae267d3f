import { lookAlikeKey, nameKey } from '@repertoire/core'
import { eq, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { DrizzleTx } from './connect.ts'
import { skills } from './tables/catalogue.ts'

/** Skills inside a transaction. */
export function skillsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['skills'] {
  return {
    lock: async (key) => {
      await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`repertoire.skill.${key}`}, 0))`)
      const rows = await tx
        .select({ id: skills.id, name: skills.name, team: skills.team, revision: skills.revision })
        .from(skills)
        .where(eq(skills.nameKey, key))
      return rows[0]
    },
    setTeam: async (id, team) => {
      await tx
        .update(skills)
        .set({ team, revision: await revision() })
        .where(eq(skills.id, id))
    },
    lookAlikes: async (key) =>
      (await tx.select({ name: skills.name }).from(skills).where(eq(skills.lookAlikeKey, key)).limit(5)).map((row) => row.name),
    insert: async ({ id, name, team, at }) => {
      await tx.insert(skills).values({
        id,
        name,
        nameKey: nameKey(name),
        lookAlikeKey: lookAlikeKey(name),
        team,
        firstPublishedAt: at,
        revision: await revision(),
      })
    },
  }
}
