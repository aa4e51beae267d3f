import { refusals } from '@repertoire/core'
import type postgres from 'postgres'
import type { CountedSide, CountedSides } from '../../counted.ts'

type Row = {
  readonly unit_kind: string
  readonly side: string
  readonly version: string | null
  readonly units: number
  readonly calls: number
  readonly failures: number
  readonly failure_rate: number | null
  readonly mean_ms: number | null
  readonly variance_ms: number | null
}

/** The arms of a rollout, counted at its unit; where every call is one, what was summed of calls is enough. */
export async function countArms(sql: postgres.Sql, rolloutId: string): Promise<CountedSides> {
  const rows = await sql<Row[]>`
    with units as (
      select arm, unit_kind, unit_hash, max(version) as version, sum(calls) as calls, sum(failures) as failures, sum(total_ms) as total_ms, sum(squared_ms) as squared_ms
      from rollout_units where rollout_id = ${rolloutId} group by arm, unit_kind, unit_hash having sum(calls) > 0)
    select unit_kind, arm as side, max(version) as version, count(*)::float8 as units, sum(calls)::float8 as calls, sum(failures)::float8 as failures,
      avg(failures / calls)::float8 as failure_rate, avg(total_ms / calls::float8) as mean_ms, var_samp(total_ms / calls::float8) as variance_ms
    from units where unit_kind <> 'call' group by unit_kind, arm
    union all
    select unit_kind, arm, version, calls::float8, calls::float8, failures::float8, (failures / calls)::float8, total_ms / calls::float8,
      greatest(0, (squared_ms - total_ms * total_ms / calls::float8) / nullif(calls::float8 - 1, 0))
    from units where unit_kind = 'call'`
  const [both] = await sql<{ units: number }[]>`
    select count(*)::int as units from (
      select unit_hash from rollout_units where rollout_id = ${rolloutId} and unit_kind <> 'call' and calls > 0 group by unit_hash having count(distinct arm) > 1) as crossed`
  return {
    unit: rows[0]?.unit_kind ?? 'agent',
    a: toSide(
      rows.find(({ side }) => side === 'stable'),
      { arm: 'stable', version: null },
    ),
    b: toSide(
      rows.find(({ side }) => side === 'canary'),
      { arm: 'canary', version: null },
    ),
    unitsInBoth: both?.units ?? 0,
  }
}

/** Two versions of a skill as the agents that called them met each. */
export async function countVersions(
  sql: postgres.Sql,
  {
    skill,
    a,
    b,
    window,
  }: { readonly skill: string; readonly a: string; readonly b: string; readonly window: { readonly from: Date; readonly to: Date } },
): Promise<CountedSides> {
  const rows = await sql<(Row & { readonly both: number })[]>`
    with counted as (
      select version, agent_id, sum(calls) as calls, coalesce(sum(calls) filter (where outcome <> 'ok'), 0) as failures, sum(total_ms) as total_ms
      from agent_skill_days
      where skill = ${skill} and bucket >= ${window.from} and bucket < ${window.to} and version in (${a}, ${b}) and outcome <> all(${refusals as string[]})
      group by version, agent_id having sum(calls) > 0),
    crossed as (select count(*) as agents from (select agent_id from counted group by agent_id having count(*) > 1) as twice)
    select 'agent' as unit_kind, version as side, version, count(*)::float8 as units, sum(calls)::float8 as calls, sum(failures)::float8 as failures,
      avg(failures / calls)::float8 as failure_rate, avg(total_ms / calls::float8) as mean_ms, var_samp(total_ms / calls::float8) as variance_ms, (select agents from crossed)::int as both
    from counted group by version`
  return {
    unit: 'agent',
    a: toSide(
      rows.find(({ side }) => side === a),
      { arm: null, version: a },
    ),
    b: toSide(
      rows.find(({ side }) => side === b),
      { arm: null, version: b },
    ),
    unitsInBoth: rows[0]?.both ?? 0,
  }
}

function toSide(row: Row | undefined, { arm, version }: { readonly arm: string | null; readonly version: string | null }): CountedSide {
  return {
    arm,
    version: version ?? row?.version ?? null,
    units: row?.units ?? 0,
    calls: row?.calls ?? 0,
    failures: row?.failures ?? 0,
    failureRate: row?.failure_rate ?? null,
    meanMs: row?.mean_ms ?? null,
    varianceMs: row?.variance_ms ?? null,
  }
}
