import type postgres from 'postgres'

const rowsAtOnce = 10_000
/** Who has counted an hour: no process of its own. */
const together = '00000000-0000-0000-0000-000000000000'

/**
 * Adds refusals of more than two days ago up into hours, over all processes, so that a question about three months reads
 * thousands of rows and not millions. No process has anything to say of a minute as old as that any more.
 */
export async function foldOldRefusals(sql: postgres.Sql): Promise<void> {
  while ((await foldSome(sql)) === rowsAtOnce);
}

async function foldSome(sql: postgres.Sql): Promise<number> {
  const [folded] = await sql<{ rows: number }[]>`
    with gone as (
      delete from refusal_minutes where ctid = any(array(
        select ctid from refusal_minutes where minute < date_bin('1 day', now(), 'epoch') - interval '2 days' and instance <> ${together}::uuid limit ${rowsAtOnce}))
      returning minute, agent_id, code, refusals
    ), hours as (
      insert into refusal_minutes as known (minute, agent_id, code, instance, refusals)
      select date_bin('1 hour', minute, 'epoch'), agent_id, code, ${together}::uuid, sum(refusals) from gone group by 1, 2, 3
      on conflict (minute, agent_id, code, instance) do update set refusals = known.refusals + excluded.refusals
    ) select count(*)::int as rows from gone`
  return folded?.rows ?? 0
}
