import { failures, refusals } from '@repertoire/core'
import type postgres from 'postgres'
import { placeOfDuration } from './places.ts'

/** Which rows are counted: those after a place in the order of `seq`, at most so many; or some that are about to go. */
export type RowsToCount =
  | { readonly after: string; readonly atMost: number }
  | { readonly callIds: readonly string[]; readonly upTo: string }

// Every rollup has these; what differs is what its cells are told apart by. Days are summed from the hours of the same rows.
const measures = 'calls, attempts, retried, total_ms, output_bytes, histogram'
const skillKeys = 'skill, version, arm, outcome, error_code'
const agentKeys = 'agent_id, outcome, error_code'
const bothKeys = 'agent_id, skill, version, outcome, error_code'

const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

const addTo = (table: string, keys: string): string => `to_${table} as (
    insert into ${table} as known (bucket, ${keys}, ${measures}) select * from new_${table}
    on conflict (bucket, ${keys}) do update set
      calls = known.calls + excluded.calls, attempts = known.attempts + excluded.attempts, retried = known.retried + excluded.retried,
      total_ms = known.total_ms + excluded.total_ms, output_bytes = known.output_bytes + excluded.output_bytes, histogram = known.histogram + excluded.histogram)`

// A bucket of a histogram is twelve digits of one number, so `n` calls in the third one are ne24.
const cellsOf = (name: string, bucket: 'hour' | 'day', keys: string): string => `${name} as (
    select ${bucket} as bucket, ${keys}, $1::int * sum(n) as calls, $1::int * sum(a) as attempts, $1::int * sum(r) as retried, $1::int * sum(t) as total_ms,
      $1::int * sum(o) as output_bytes, $1::int * sum((n::text || 'e' || (12 * place)::text)::numeric) as histogram
    from (
      select ${bucket}, ${keys}, place, count(*) as n, sum(attempts) as a, count(*) filter (where attempts > 1) as r, sum(total_ms) as t, sum(output_bytes) as o
      from fresh group by ${bucket}, ${keys}, place
    ) as places group by ${bucket}, ${keys})`

const summed =
  'sum(calls) as calls, sum(attempts) as attempts, sum(retried) as retried, sum(total_ms) as total_ms, sum(output_bytes) as output_bytes, sum(histogram) as histogram'

const daysOf = (table: string, hours: string, keys: string): string => `new_${table} as (
    select date_bin('1 day', bucket, 'epoch') as bucket, ${keys}, ${summed} from new_${hours} group by 1, ${keys})`

// Everybody together is an agent without a name: what a chart of everything reads is a hundredth of what it is made of.
const withEverybody = (table: string): string => `new_${table} as (
    select * from some_${table} union all
    select bucket, '', outcome, error_code, ${summed} from some_${table} group by bucket, outcome, error_code)`

const addCells = [
  cellsOf('new_call_hours', 'hour', skillKeys),
  daysOf('call_days', 'call_hours', skillKeys),
  cellsOf('some_agent_hours', 'hour', agentKeys),
  withEverybody('agent_hours'),
  daysOf('agent_days', 'agent_hours', agentKeys),
  cellsOf('new_agent_skill_days', 'day', bothKeys),
  addTo('call_hours', skillKeys),
  addTo('call_days', skillKeys),
  addTo('agent_hours', agentKeys),
  addTo('agent_days', agentKeys),
  addTo('agent_skill_days', bothKeys),
]

// Of one row at most twenty places count; numbers in a path stand for any item.
const addViolations = `to_violations as (
    insert into violation_days as known (bucket, skill, version, outcome, path, rule, calls)
    select day, skill, version, outcome, path, rule, $1::int * count(*)
    from fresh, lateral (
      select distinct left(regexp_replace(found->>'path', '/\\d+(?=/|$)', '/*', 'g'), 256) as path, left(found->>'rule', 64) as rule
      from jsonb_array_elements(violations::jsonb) with ordinality as listed (found, place) where listed.place <= 20
    ) as places
    where violations is not null
    group by day, skill, version, outcome, path, rule
    on conflict (bucket, skill, version, outcome, path, rule) do update set calls = known.calls + excluded.calls
  )`

// Where every call is a unit of its own, arms are enough.
const addUnits = `to_units as (
    insert into rollout_units as known (rollout_id, arm, unit_kind, unit_hash, version, calls, failures, total_ms, squared_ms, last_at)
    select rollout_id, arm, unit_kind, case unit_kind when 'call' then '' else unit_hash end, version,
      $1::int * count(*), $1::int * count(*) filter (where outcome in (${quoted(failures)})), $1::int * sum(total_ms), $1::int * sum(total_ms * total_ms), max(ts)
    from fresh where rollout_id is not null and arm <> '' and version <> '' and outcome not in (${quoted(refusals)})
    group by 1, 2, 3, 4, 5
    on conflict (rollout_id, arm, unit_kind, unit_hash, version) do update set
      calls = known.calls + excluded.calls, failures = known.failures + excluded.failures, total_ms = known.total_ms + excluded.total_ms,
      squared_ms = known.squared_ms + excluded.squared_ms, last_at = greatest(known.last_at, excluded.last_at)
  )`

const statement = (which: string): string => `with taken as materialized (
    select seq, dry_run, date_bin('1 hour', ts, 'epoch') as hour, date_bin('1 day', ts, 'epoch') as day, ts, skill, coalesce(version, '') as version, agent_id,
      coalesce(arm, '') as arm, outcome, coalesce(error_code, '') as error_code, attempts, total_ms, output_bytes, violations,
      rollout_id, coalesce(unit_kind, '') as unit_kind, coalesce(unit_hash, '') as unit_hash, ${placeOfDuration('total_ms')} as place
    from calls where ${which}
  ),
  fresh as not materialized (select * from taken where not dry_run),
  ${[...addCells, addViolations, addUnits].join(',\n  ')}
  select count(*)::int as rows, max(seq)::text as seq from taken`

const countNext = statement('seq > $2 order by seq limit $3')
const countThese = statement('call_id = any($2::uuid[]) and seq <= $3')

/** Adds rows to everything that is counted, or with -1 takes away what was counted of them; answers with how many, and the last `seq`. Dry runs do not count. */
export async function countRows(
  tx: postgres.TransactionSql,
  which: RowsToCount,
  sign: 1 | -1 = 1,
): Promise<{ readonly rows: number; readonly seq: string | null }> {
  const [counted] =
    'after' in which
      ? await tx.unsafe<{ rows: number; seq: string | null }[]>(countNext, [sign, which.after, which.atMost], { prepare: true })
      : await tx.unsafe<{ rows: number; seq: string | null }[]>(countThese, [sign, which.callIds as string[], which.upTo], {
          prepare: true,
        })
  return counted ?? { rows: 0, seq: null }
}
