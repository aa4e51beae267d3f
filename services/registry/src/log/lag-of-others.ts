import type postgres from 'postgres'

// Who is silent for so long has rows that nobody sees; who is silent for an hour is gone.
const silentSeconds = 10
const goneSeconds = 3600

/** For how long rows of other replicas' calls may have been waiting, in milliseconds: what they say of themselves, or how long they are silent. */
export async function lagOfOthers(sql: postgres.Sql, instance: string): Promise<number> {
  const [worst] = await sql<{ ms: number }[]>`
    select coalesce(max(greatest(log_lag_ms, case when last_seen_at < now() - make_interval(secs => ${silentSeconds}) then extract(epoch from now() - last_seen_at) * 1000 else 0 end)), 0)::int as ms
    from replicas where instance <> ${instance}::uuid and left_at is null and last_seen_at > now() - make_interval(secs => ${goneSeconds})`
  return worst?.ms ?? 0
}
