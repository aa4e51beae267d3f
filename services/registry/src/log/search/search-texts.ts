import type postgres from 'postgres'
import type { CallQuery } from '../../stored.ts'
import { searchedText } from '../partitions/index-texts.ts'
import { goOnBehind, type FoundIds } from './found-ids.ts'
import { conditionsOf, orderOf, windowOf } from './where.ts'

// Texts are larger than rows, so fewer of them are looked at.
const mostTexts = 4000
const textsAtOnce = 1000
const mostMs = 150

type Day = { readonly from: Date; readonly to: Date; readonly isIndexed: boolean }

/**
 * Finds calls by a part of their input, day by day: a day that is over has an index of every three letters where the database may
 * have one; of others so many rows are looked at. A page that has taken its time ends with the day it is at, and says so.
 */
export async function searchTexts(sql: postgres.Sql, query: CallQuery): Promise<FoundIds> {
  const started = performance.now()
  const ids: string[] = []
  let left = mostTexts
  let next = query.beyond
  for (const day of await daysOf(sql, query)) {
    while (left > 0) {
      const part = await searchPart(sql, { ...query, beyond: next, limit: query.limit - ids.length }, day)
      ids.push(...part.ids)
      if (ids.length === query.limit) return { ids, lookedTo: undefined }
      left -= part.looked
      if (part.lookedTo === undefined) break
      next = part.lookedTo
    }
    if (left <= 0) return { ids, lookedTo: next }
    if (performance.now() - started > mostMs) return { ids, lookedTo: firstIdOf(query.isOldestFirst === true ? day.to : day.from) }
  }
  return { ids, lookedTo: undefined }
}

type Part = FoundIds & { readonly looked: number }

/** Searches a day, the whole of it by its index, or the next rows of it one by one. */
async function searchPart(sql: postgres.Sql, query: CallQuery, day: Day): Promise<Part> {
  const { indexed, rest } = conditionsOf(sql, query)
  const [window, order] = [windowOf(sql, { ...query, from: day.from, to: day.to }), orderOf(sql, query)]
  const looked = day.isIndexed ? sql`` : sql`${order} limit ${textsAtOnce}`
  const found = await sql<{ call_id: string }[]>`
    select c.call_id from (select c.* from calls c where ${window} ${indexed} ${looked}) as c join call_payloads p on p.call_id = c.call_id
    where p.call_id >= repertoire_first_id(${day.from}) and p.call_id < repertoire_first_id(${day.to}) and ${holds(sql, query.q ?? '')} ${rest}
    ${order} limit ${query.limit}`
  const ids = found.map((row) => row.call_id)
  if (day.isIndexed || ids.length === query.limit) return { ids, looked: 0, lookedTo: undefined }
  const rows = await sql<{ call_id: string }[]>`select c.call_id from calls c where ${window} ${indexed} ${order} limit ${textsAtOnce}`
  const lookedTo = rows.length === textsAtOnce ? rows.at(-1)?.call_id : undefined
  return { ids, looked: rows.length, lookedTo: goOnBehind(lookedTo, { ids, isOldestFirst: query.isOldestFirst }) }
}

function firstIdOf(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`
}

/** The days of a window that hold payloads at all, in the order in which they are wanted. */
async function daysOf(sql: postgres.Sql, { from, to, beyond, isOldestFirst }: CallQuery): Promise<Day[]> {
  const days = await sql<{ day: string; indexed: boolean }[]>`
    select to_char(day, 'YYYY-MM-DD') as day, exists (
      select 1 from pg_index x where x.indexrelid = to_regclass('call_payloads_' || to_char(day, 'YYYYMMDD') || '_text') and x.indisvalid) as indexed
    from (select to_date(right(inhrelid::regclass::text, 8), 'YYYYMMDD') as day from pg_inherits where inhparent = 'call_payloads'::regclass and inhrelid::regclass::text ~ '\\d{8}$') as parts
    where day between (${from}::timestamptz at time zone 'UTC')::date and (${to}::timestamptz at time zone 'UTC')::date
    order by day ${isOldestFirst === true ? sql`` : sql`desc`}`
  return days
    .filter(({ day }) => beyond === undefined || (isOldestFirst === true ? day >= dayOf(beyond) : day <= dayOf(beyond)))
    .map(({ day, indexed: isIndexed }) => {
      const start = new Date(`${day}T00:00:00Z`)
      const end = new Date(start.getTime() + 86_400_000)
      return { from: start < from ? from : start, to: end > to ? to : end, isIndexed }
    })
}

function dayOf(callId: string): string {
  return new Date(Number.parseInt(callId.replaceAll('-', '').slice(0, 12), 16)).toISOString().slice(0, 10)
}

// The index knows bytes as they are escaped, without regard to case; the text itself decides.
function holds(sql: postgres.Sql, text: string): postgres.Fragment {
  const written = [...new Set([text, JSON.stringify(text).slice(1, -1)])]
  return written.reduce(
    (all, part) => {
      const one = sql`(${sql.unsafe(searchedText('p.input'))} ilike '%' || ${escapeLike(escapeBytes(part))} || '%' and repertoire_text(p.input) ilike '%' || ${escapeLike(part)} || '%')`
      return all === undefined ? one : sql`(${all} or ${one})`
    },
    undefined as postgres.Fragment | undefined,
  ) as postgres.Fragment
}

/** A text as `encode(…, 'escape')` writes its bytes. */
function escapeBytes(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) =>
    byte === 0 || byte > 127 ? `\\${byte.toString(8).padStart(3, '0')}` : byte === 92 ? '\\\\' : String.fromCharCode(byte),
  ).join('')
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}
