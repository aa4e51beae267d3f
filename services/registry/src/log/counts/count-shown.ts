import type postgres from 'postgres'
import type { Listed, MissedSearch, ShownUnused } from '../../counted.ts'

/** Skills that were shown in a window and not called in it, those that were shown most first; whole days. */
export async function countUnused(sql: postgres.Sql, { window, limit }: Listed): Promise<readonly ShownUnused[]> {
  return sql<ShownUnused[]>`
    with called as (select distinct skill from call_days where bucket >= ${window.from} and bucket < ${window.to} and calls > 0)
    select skill, coalesce(sum(shown) filter (where kind <> 'load'), 0)::float8 as listed, coalesce(sum(shown) filter (where kind = 'load'), 0)::float8 as loaded,
      count(distinct agent_id)::int as agents, max(bucket) as "lastShownAt"
    from shown_days where bucket >= ${window.from} and bucket < ${window.to} and skill not in (select skill from called)
    group by skill order by listed desc, skill limit ${limit}`
}

/** Searches in a window that found nothing, the most frequent first. */
export async function countMissedSearches(sql: postgres.Sql, { window, limit }: Listed): Promise<readonly MissedSearch[]> {
  return sql<MissedSearch[]>`
    select query, count(*)::float8 as searches, count(distinct agent_id)::int as agents, max(ts) as "lastAt" from shown_events
    where event_id >= repertoire_first_id(${window.from}) and event_id < repertoire_first_id(${window.to}) and kind = 'search' and item_count = 0
    group by query order by searches desc, query limit ${limit}`
}

const eventsAtOnce = 2000
const settledSeconds = 60
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Counts what was shown up to a minute ago, and answers with how many events that were; each counts once. */
export async function foldShown(sql: postgres.Sql): Promise<number> {
  return (await sql.begin(async (tx) => {
    const [state] = await tx<{ upto: string }[]>`select shown_upto as upto from rollup_state for update`
    const [next] = await tx<{ events: number; last: string | null; settled: string }[]>`
      with some_events as (
        select event_id from shown_events
        where event_id > ${state?.upto ?? lastId} and event_id < repertoire_first_id(now() - make_interval(secs => ${settledSeconds})) order by event_id limit ${eventsAtOnce})
      select count(*)::int as events, max(event_id::text)::uuid as last, repertoire_first_id(now() - make_interval(secs => ${settledSeconds})) as settled from some_events`
    if (state === undefined || next === undefined) return 0
    const upto = next.events === eventsAtOnce && next.last !== null ? next.last : next.settled
    if (next.events > 0)
      await tx`insert into shown_days as known (bucket, skill, agent_id, kind, shown)
        select date_bin('1 day', ts, 'epoch'), split_part(item, '@', 1), agent_id, kind, count(*)
        from shown_events, unnest(string_to_array(items, ' ')) as item where event_id > ${state.upto} and event_id <= ${upto} and item <> ''
        group by 1, 2, 3, 4
        on conflict (bucket, skill, agent_id, kind) do update set shown = known.shown + excluded.shown`
    await tx`update rollup_state set shown_upto = ${upto}`
    return next.events
  })) as number
}
