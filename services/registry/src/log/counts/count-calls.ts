import type { StatsDimension } from '@repertoire/contract'
import { failures, histogramBuckets, readHistogram } from '@repertoire/core'
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
// The character of the first bucket; there are fewer of them than letters from here on.
const firstPlace = 48
const sums = `sum(calls)::float8 as calls, coalesce(sum(calls) filter (where outcome = 'ok'), 0)::float8 as ok,
  coalesce(sum(calls) filter (where outcome in (${failures.map((name) => `'${name}'`).join(', ')})), 0)::float8 as failures,
  sum(attempts)::float8 as attempts, sum(retried)::float8 as retried, coalesce(sum(retried) filter (where outcome = 'ok'), 0)::float8 as recovered,
  sum(total_ms)::float8 as total_ms, sum(output_bytes)::float8 as output_bytes`

/** Counts calls in one query, the most frequent cells first; a series in the order of time. */
export async function countCells(sql: postgres.Sql, question: CountsQuestion): Promise<CountedCell[]> {
  const { interval, groupBy, limit } = question
  const names = groupBy.map((name) => columns[name])
  const at = interval === 'none' ? [] : ['at']
  const keys = sql.unsafe([...at, ...names].map((name) => `${name}, `).join(''))
  const grouped = [...at, ...names]
  const { first, cells } = cellsOf(sql, question)
  const rows = await sql<Row[]>`${first} select ${keys} ${sql.unsafe(`${sums}, ${durations(question)} as histogram`)} from ${cells} as cells
    ${sql.unsafe(grouped.length === 0 ? '' : `group by ${grouped.join(', ')}`)}
    having sum(calls) > 0 order by ${sql.unsafe([...at, 'sum(calls) desc', ...names].join(', '))} limit ${limit}`
  return rows.map((row) => toCell(row, question))
}

/**
 * What is summed up. The planner does not know how many points a series has and would sort all rows by their time: those are
 * counted by point and bucket first, in a step that is planned apart. For other sums that step would take as long as reading.
 */
function cellsOf(sql: postgres.Sql, question: CountsQuestion): { readonly first: postgres.Fragment; readonly cells: postgres.Fragment } {
  if (question.source !== 'rows') return { first: sql``, cells: sql`(${countedBefore(sql, question)})` }
  const rows = rowsAsCells(sql, question)
  if (question.interval === 'none') return { first: sql``, cells: sql`(${rows})` }
  const keys = sql.unsafe(['at', ...toldApart(question).map((name) => columns[name]), 'place'].join(', '))
  return {
    first: sql`with counted as materialized (
      select ${keys}, sum(calls)::int as calls, sum(attempts) as attempts, sum(retried)::int as retried, sum(total_ms) as total_ms,
        sum(output_bytes) as output_bytes from (${rows}) as rows group by ${keys})`,
    cells: sql`counted`,
  }
}

// Of rows just the buckets are told, a character for each call: to make numbers of thousands of digits for every few rows takes
// longer than to read the rows.
function durations({ source, interval, countsOnly }: CountsQuestion): string {
  if (countsOnly === true) return "''"
  if (source !== 'rows') return 'sum(histogram)::text'
  const character = `chr(${firstPlace} + place)`
  return `string_agg(${interval === 'none' ? character : `repeat(${character}, calls)`}, '')`
}

function readPlaces(text: string): Map<number, number> {
  const counts = Array.from({ length: histogramBuckets }, () => 0)
  for (let at = 0; at < text.length; at += 1) {
    const place = text.charCodeAt(at) - firstPlace
    counts[place] = (counts[place] ?? 0) + 1
  }
  return new Map([...counts.entries()].filter(([, calls]) => calls > 0))
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

/** Rows as cells of one call each, with the bucket of its duration. */
function rowsAsCells(sql: postgres.Sql, question: CountsQuestion): postgres.Fragment {
  const { window, interval } = question
  const at = interval === 'none' ? '' : `date_bin('1 ${interval}', ts, 'epoch') as at, `
  const names = toldApart(question).map((name) => (isOptional(name) ? `coalesce(${columns[name]}, '') as ${columns[name]}` : columns[name]))
  return sql`select ${sql.unsafe(`${at}${names.join(', ')}`)}, 1 as calls, attempts, (attempts > 1)::int as retried, total_ms, output_bytes,
      ${sql.unsafe(placeOfDuration('total_ms'))} as place
    from calls where call_id >= repertoire_first_id(${window.from}) and call_id < repertoire_first_id(${window.to}) and not dry_run
      ${filterBy(sql, question, (column) => (isOptional(column) ? `coalesce(${column}, '')` : column))}`
}

// Outcomes are told apart in any case: that is how the sums tell well from badly ended.
function toldApart({ groupBy }: CountsQuestion): readonly StatsDimension[] {
  return [...new Set<StatsDimension>([...groupBy, 'outcome'])]
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
