import type postgres from 'postgres'
import { foldOnce } from '../../../services/registry/src/log/rollups/fold.ts'

/** How many rows are loaded over how many days, the last of which is today, as far as it is over. */
export type LoadSize = { readonly rows: number; readonly days: number }

/** Disk a row takes with its payload, its indexes, what is counted of it and what is in flight while it is loaded. */
export const bytesPerRow = 1900

/**
 * Loads rows day by day, made on the server: 300 agents and 200 skills with favourites, two versions, one call in twenty gone
 * wrong, durations with a tail, and small payloads. Each day is filled before it is attached, so that its indexes are built once.
 */
export async function loadRows(sql: postgres.Sql, { rows, days }: LoadSize, onDay: (day: number) => void): Promise<void> {
  // As many a minute at one in the morning as at noon: the last hour is an hour's worth whenever this runs.
  const [now] = await sql<{ share: number }[]>`select extract(epoch from (now() at time zone 'UTC')::time)::float8 / 86400 as share`
  const perDay = rows / (days - 1 + (now?.share ?? 1))
  for (let day = 0; day < days; day += 1) {
    const first = Math.round(day * perDay)
    await loadDay(sql, { daysAgo: days - 1 - day, first, count: Math.min(rows, Math.round((day + 1) * perDay)) - first })
    onDay(day + 1)
  }
  await sql`select setval(pg_get_serial_sequence('calls', 'seq'), ${rows + 1})`
  await sql.unsafe('analyze calls, call_payloads')
}

/** Counts everything that was loaded, as the product does. */
export async function foldAll(sql: postgres.Sql): Promise<void> {
  while ((await foldOnce(sql, 100_000)) > 0);
  await sql.unsafe('vacuum analyze call_hours, call_days, agent_hours, agent_days, agent_skill_days, violation_days, rollout_units')
}

async function loadDay(
  sql: postgres.Sql,
  { daysAgo, first, count }: { readonly daysAgo: number; readonly first: number; readonly count: number },
): Promise<void> {
  const [day] = await sql<{ name: string; start: string; ms: number }[]>`
    select to_char(d, 'YYYYMMDD') as name, d::text as start, (case when d = (now() at time zone 'UTC')::date then extract(epoch from (now() at time zone 'UTC') - d) * 1000 else 86400000 end)::int as ms
    from (select (now() at time zone 'UTC')::date - ${daysAgo}::int as d) as day`
  if (day === undefined) throw new Error('the server has no today')
  const [calls, payloads] = [`calls_${day.name}`, `call_payloads_${day.name}`]
  await sql.begin(async (tx) => {
    for (const [parent, part] of [
      ['calls', calls],
      ['call_payloads', payloads],
    ] as const)
      if ((await tx`select to_regclass(${part}) as part`)[0]?.['part'] !== null) {
        await tx.unsafe(`alter table ${parent} detach partition ${part}`)
        await tx.unsafe(`drop table ${part}`)
      }
    await tx.unsafe(`create table ${calls} (like calls including defaults excluding identity)`)
    await tx.unsafe(`create table ${payloads} (like call_payloads including defaults)`)
    await tx.unsafe(insertCalls(calls), [day.start, day.ms, first, count])
    await tx.unsafe(`insert into ${payloads} (call_id, input, output)
      select call_id, convert_to('{"order_id":"' || (seq % 100000) || '","note":"' || (array['deliver tomorrow','refund it','where is it','change address'])[1 + seq % 4] || ' ${'%'}s"}', 'UTF8'),
        convert_to('{"amount":' || (seq % 500) || ',"state":"on its way","lines":[1,2,3]}', 'UTF8') from ${calls}`)
    await tx.unsafe(`alter table ${calls} add primary key (call_id)`)
    await tx.unsafe(`alter table ${payloads} add primary key (call_id)`)
    for (const [parent, part] of [
      ['calls', calls],
      ['call_payloads', payloads],
    ] as const)
      await tx.unsafe(`alter table ${parent} attach partition ${part} for values
        from ('${await boundOf(tx, day.start, 0)}') to ('${await boundOf(tx, day.start, 1)}')`)
  })
}

async function boundOf(tx: postgres.TransactionSql, start: string, later: number): Promise<string> {
  const [bound] = await tx`select repertoire_first_id((${start}::date + ${later}::int)::timestamp at time zone 'UTC') as id`
  return String(bound?.['id'])
}

// $1 the day, $2 its milliseconds, $3 the first row's number, $4 how many.
const insertCalls = (table: string): string => `
  insert into ${table} (call_id, seq, ts, replica, trace_id, session, agent_id, key_id, skill, requested_range, version, version_digest, via, rollout_id, arm, unit_kind, unit_hash,
    revision, executor, attempts, outcome, error_code, error_origin, violations, executor_ms, total_ms, input_bytes, output_bytes, input_sha256, truncated, dry_run, authz_rule)
  select (left(repertoire_first_id(ts)::text, 14) || '7' || to_char(n % 1000, 'FM000') || '-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, ts, 'bench', md5(n::text), 'session-' || n % 100000,
    'agent-' || agent, '01980000-0000-7000-8000-000000000000', 'skill-' || skill, '^1', version, 'sha256:' || repeat('0', 64), case when is_rolling then 'canary' else 'stable' end,
    case when is_rolling then 'rollout-' || skill end, case when is_rolling then case when version = '1.1.0' then 'canary' else 'stable' end end, case when is_rolling then 'agent' end,
    case when is_rolling then 'agent-' || agent end,
    100, 'http', case when n % 40 = 0 then 2 else 1 end, outcome, code, case when code is not null then 'registry' end,
    case when outcome = 'invalid_input' then '[{"path":"/order_id","rule":"type"}]' end, ms, ms, 60, 50, repeat('0', 64), false, false, 'open'
  from (
    select n, ts, agent, (nth * nth + agent * (nth % 7)) % 200 as skill, case when v < 0.1 then '1.1.0' else '1.0.0' end as version, nth * nth % 10 = 0 as is_rolling, ms,
      (array['ok','timeout','executor_error','invalid_input','denied','skill_error'])[kind] as outcome,
      (array[null,'TIMEOUT','EXECUTOR_FAILED','INVALID_INPUT','PERMISSION_DENIED','ORDER_NOT_FOUND'])[kind] as code
    from (
      select $3::bigint + i + 1 as n, $1::timestamp at time zone 'UTC' + make_interval(secs => i * ($2::float8 / $4) / 1000) as ts, floor(300 * power(random(), 2.5))::int as agent,
        floor(12 * power(random(), 2))::int as nth, random() as v, exp(3 + 1.2 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as ms,
        case when random() < 0.95 then 1 else 2 + floor(5 * random())::int end as kind
      from generate_series(0, $4::bigint - 1) as i
    ) as drawn
  ) as made`
