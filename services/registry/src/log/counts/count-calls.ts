import type { StatsDimension } from '@repertoire/contract'
import { failures, readHistogram } from '@repertoire/core'
import type postgres from 'postgres'
import type { CountedCell, CountsQuestion } from '../../counted.ts'
import { placeOfDuration } from '../rollups/places.ts'

type Row = Readonly<Record<StatsDimension, string>> & {
  readonly at: Date
  readonly calls: number
  readonly ok: number
  readonly failures: number
  readonly attempts: number
  readonly retried: number
  readonly recovered: number
  readonly total_ms: number
  readonly output_bytes: number
  readonly histogram: string
}

const columns: Readonly<Record<StatsDimension, string>> = {
  skill: 'skill',
  version: 'version',
  agent: 'agent_id',
  arm: 'arm',
  outcome: 'outcome',
  error_code: 'error_code',
}
const sums = `sum(calls)::float8 as calls, coalesce(sum(calls) filter (where outcome = 'ok'), 0)::float8 as ok,
  coalesce(sum(calls) filter (where outcome in (${failures.map((name) => `'${name}'`).join(', ')})), 0)::float8 as failures,
  sum(attempts)::float8 as attempts, sum(retried)::float8 as retried, coalesce(sum(retried) filter (where outcome = 'ok'), 0)::float8 as recovered,
  sum(total_ms)::float8 as total_ms, sum(output_bytes)::float8 as output_bytes`

/** Counts calls in one query, the most frequent cells first; a series in the order of time. */
export async function countCells(sql: postgres.Sql, question: CountsQuestion): Promise<CountedCell[]> {
  const { source, interval, groupBy, limit } = question
  const names = groupBy.map((name) => columns[name])
  const at = interval === 'none' ? [] : ['at']
  const keys = sql.unsafe([...at, ...names].map((name) => `${name}, `).join(''))
  const cells = source === 'rows' ? countRaw(sql, question) : countedBefore(sql, question)
  const grouped = [...at, ...names]
  // Counted in two steps that are planned apart: together the planner sorts all rows by the texts of the second.
  const first = source === 'rows' ? sql`with cells as materialized (${cells})` : sql``
  const rows = await sql<
    Row[]
  >`${first} select ${keys} ${sql.unsafe(`${sums}, ${durations(question)} as histogram`)} from ${source === 'rows' ? sql`cells` : sql`(${cells}) as cells`}
    ${sql.unsafe(grouped.length === 0 ? '' : `group by ${grouped.join(', ')}`)}
    having sum(calls) > 0 order by ${sql.unsafe([...at, 'sum(calls) desc', ...names].join(', '))} limit ${limit}`
  return rows.map((row) => toCell(row, question))
}

// Of rows just the places are told and how often each: to make numbers of thousands of digits for every few rows takes longer
// than to read the rows.
function durations({ source, countsOnly }: CountsQuestion): string {
  if (countsOnly === true) return "''"
  return source === 'rows' ? "string_agg(place || ':' || calls, ' ')" : 'sum(histogram)::text'
}

function readPlaces(text: string): Map<number, number> {
  const histogram = new Map<number, number>()
  for (const cell of text === '' ? [] : text.split(' ')) {
    const [place, calls] = cell.split(':').map(Number)
    if (place !== undefined && calls !== undefined) histogram.set(place, (histogram.get(place) ?? 0) + calls)
  }
  return histogram
}

// Everybody together is kept as an agent without a name.
const tables = {
  total_hours: 'agent_hours',
  total_days: 'agent_days',
  agent_hours: 'agent_hours',
  agent_days: 'agent_days',
  agent_skill_days: 'agent_skill_days',
  call_hours: 'call_hours',
  call_days: 'call_days',
} as const

function countedBefore(sql: postgres.Sql, question: CountsQuestion): postgres.Fragment {
  const { source, window, interval } = question
  if (source === 'rows') throw new Error('rows are counted anew')
  const at = interval === 'none' ? '' : `date_bin('1 ${interval}', bucket, 'epoch') as at, `
  const whose = source.startsWith('total')
    ? "and agent_id = ''"
    : source === 'agent_hours' || source === 'agent_days'
      ? "and agent_id <> ''"
      : ''
  return sql`select ${sql.unsafe(at)} counted.* from ${sql.unsafe(tables[source])} as counted
    where bucket >= ${window.from} and bucket < ${window.to} ${sql.unsafe(whose)} ${filterBy(sql, question, (column) => column)}`
}

/** Rows, counted into cells, each of one bucket of durations. */
function countRaw(sql: postgres.Sql, question: CountsQuestion): postgres.Fragment {
  const { window, interval, groupBy } = question
  const at = interval === 'none' ? '' : `date_bin('1 ${interval}', ts, 'epoch') as at, `
  // Outcomes are told apart in any case: that is how the sums tell well from badly ended.
  const dimensions = [...new Set<StatsDimension>([...groupBy, 'outcome'])]
  const selected = dimensions.map((name) => (isOptional(name) ? `coalesce(${columns[name]}, '') as ${columns[name]}` : columns[name]))
  const keys = [...(interval === 'none' ? [] : ['at']), ...dimensions.map((name) => columns[name])].join(', ')
  return sql`select ${sql.unsafe(keys)}, count(*)::int as calls, sum(attempts)::float8 as attempts, (count(*) filter (where attempts > 1))::int as retried, sum(total_ms) as total_ms,
      sum(output_bytes)::float8 as output_bytes, place
    from (select ${sql.unsafe(`${at}${selected.join(', ')}`)}, attempts, total_ms, output_bytes, ${sql.unsafe(placeOfDuration('total_ms'))} as place from calls
      where call_id >= repertoire_first_id(${window.from}) and call_id < repertoire_first_id(${window.to}) and not dry_run
      ${filterBy(sql, question, (column) => (isOptional(column) ? `coalesce(${column}, '')` : column))}) as rows
    group by ${sql.unsafe(keys)}, place`
}

function filterBy(sql: postgres.Sql, { filters, errorsOnly }: CountsQuestion, write: (column: string) => string): postgres.Fragment {
  const errors = errorsOnly === true ? sql`and ${sql.unsafe(write('error_code'))} <> ''` : sql``
  return (Object.keys(filters) as StatsDimension[]).reduce((all, name) => {
    const value = filters[name]
    // An index knows the columns as they are, not what stands in for those that are empty.
    if (value === undefined) return all
    const column = value === '' ? write(columns[name]) : columns[name]
    // A partial index is only found by a value that stands in the statement.
    return name === 'outcome' && /^[a-z_]+$/.test(value)
      ? sql`${all} and ${sql.unsafe(`${column} = '${value}'`)}`
      : sql`${all} and ${sql.unsafe(column)} = ${value}`
  }, errors)
}

const optional = new Set(['version', 'arm', 'error_code'])
const isOptional = (name: string): boolean => optional.has(name)

function toCell(row: Row, { source, interval, groupBy, countsOnly }: CountsQuestion): CountedCell {
  return {
    at: interval === 'none' ? undefined : row.at,
    names: Object.fromEntries(groupBy.map((name) => [name, row[columns[name] as StatsDimension]])),
    calls: row.calls,
    ok: row.ok,
    failures: row.failures,
    attempts: row.attempts,
    retried: row.retried,
    recovered: row.recovered,
    totalMs: row.total_ms,
    outputBytes: row.output_bytes,
    histogram: source === 'rows' || countsOnly === true ? readPlaces(row.histogram) : readHistogram(row.histogram),
  }
}
