import type postgres from 'postgres'
import { dropOldDays, trimSideTables } from './drop-old.ts'
import { foldOldRefusals } from './fold-refusals.ts'
import { indexClosedDays } from './index-texts.ts'
import type { Retention } from './retention.ts'
import { withLockRetried } from './with-lock-retried.ts'

/** How the partitions are: rows that lie in a default one (of a thousand that are counted), and whether tomorrow has its own. */
export type Kept = { readonly strayRows: number; readonly isAhead: boolean }

const parents = ['calls', 'call_payloads', 'shown_events'] as const
const lockKey = 0x5245504d
const daysAhead = 3
const mostStrayDays = 32

/** Looks after the partitions once; where another replica is at it, only looks. */
export async function keepOnce(sql: postgres.Sql, retention: Retention): Promise<Kept> {
  const [mine] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${lockKey}) as got`
  if (mine?.got === true) {
    try {
      await withLockRetried(() => sql`select repertoire_make_partitions((now() at time zone 'UTC')::date, ${daysAhead + 1})`)
      await sweepDefaults(sql)
      await dropOldDays(sql, retention)
      await trimSideTables(sql, retention)
      await foldOldRefusals(sql)
      await indexClosedDays(sql)
    } finally {
      await sql`select pg_advisory_unlock(${lockKey})`
    }
  }
  return look(sql)
}

// A day that was not made in time is made now, with its rows. What lies ahead of every clock of ours stays where it is, and is told.
async function sweepDefaults(sql: postgres.Sql): Promise<void> {
  for (const parent of parents) {
    const days = await sql<{ day: string }[]>`
      select distinct repertoire_day_of(${sql(keyOf(parent))})::text as day from ${sql(`${parent}_default`)}
      where repertoire_day_of(${sql(keyOf(parent))}) <= (now() at time zone 'UTC')::date + ${daysAhead}::int limit ${mostStrayDays}`
    for (const { day } of days) await withLockRetried(() => sql`select repertoire_make_day(${parent}, ${day}::date)`)
  }
}

async function look(sql: postgres.Sql): Promise<Kept> {
  const counts = await Promise.all(
    parents.map(
      (parent) =>
        sql<{ rows: number }[]>`select count(*)::int as rows from (select 1 from ${sql(`${parent}_default`)} limit 1000) as strays`,
    ),
  )
  const tomorrows = await sql<{ parts: number }[]>`
    select count(to_regclass(parent || to_char((now() at time zone 'UTC')::date + 1, '"_"YYYYMMDD')))::int as parts from unnest(${parents as unknown as string[]}::text[]) as parent`
  return {
    strayRows: counts.reduce((sum, [count]) => sum + (count?.rows ?? 0), 0),
    isAhead: tomorrows[0]?.parts === parents.length,
  }
}

function keyOf(parent: (typeof parents)[number]): string {
  return parent === 'shown_events' ? 'event_id' : 'call_id'
}
