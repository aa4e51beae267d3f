import type postgres from 'postgres'
import type { Retention } from './retention.ts'
import { withLockRetried } from './with-lock-retried.ts'

type OldDay = { readonly part: string; readonly isAttached: boolean }

/** Drops the days that are older than they are kept. A day is detached first, which needs the whole table but only for a moment. */
export async function dropOldDays(sql: postgres.Sql, { payloadDays, callDays }: Retention): Promise<string[]> {
  const dropped: string[] = []
  for (const [parent, days] of [
    ['call_payloads', Math.min(payloadDays, callDays)],
    ['calls', callDays],
    ['shown_events', callDays],
  ] as const) {
    for (const { part, isAttached } of await oldDays(sql, parent, days)) {
      if (isAttached) await withLockRetried(() => sql`alter table ${sql(parent)} detach partition ${sql(part)}`)
      await withLockRetried(() => sql`drop table ${sql(part)}`)
      dropped.push(part)
    }
  }
  return dropped
}

// A process that ended between the two steps leaves a table that belongs to nothing; it is found by its name.
async function oldDays(sql: postgres.Sql, parent: string, days: number): Promise<readonly OldDay[]> {
  return sql<OldDay[]>`
    select c.relname as part, exists (select 1 from pg_inherits i where i.inhrelid = c.oid) as "isAttached"
    from pg_class c join pg_class whole on whole.relnamespace = c.relnamespace and whole.oid = ${parent}::regclass
    where c.relkind = 'r' and c.relname ~ ${`^${parent}_\\d{8}$`} and right(c.relname, 8) < to_char((now() at time zone 'UTC')::date - ${days}::int, 'YYYYMMDD')
    order by 1`
}

const rowsAtOnce = 10_000

/** Removes from the tables beside the log what is as old; daily counts without agents are kept for ever. */
export async function trimSideTables(sql: postgres.Sql, { callDays }: Retention): Promise<void> {
  for (const table of ['call_hours', 'agent_hours', 'agent_days', 'agent_skill_days', 'violation_days', 'shown_days'])
    await deleteAll(() => deleteSome(sql, { table, column: 'bucket', days: callDays }))
  await deleteAll(() => deleteSome(sql, { table: 'rollout_units', column: 'last_at', days: callDays }))
  await deleteAll(() => deleteSome(sql, { table: 'refusal_minutes', column: 'minute', days: callDays }))
  await deleteAll(() => deleteSome(sql, { table: 'call_feedback', column: 'at', days: callDays }))
}

async function deleteAll(deleteMore: () => Promise<number>): Promise<void> {
  while ((await deleteMore()) === rowsAtOnce);
}

async function deleteSome(
  sql: postgres.Sql,
  { table, column, days }: { readonly table: string; readonly column: string; readonly days: number },
): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where ${sql(column)} < ((now() at time zone 'UTC')::date - ${days}::int)::timestamp at time zone 'UTC' limit ${rowsAtOnce}))`
  return count
}
