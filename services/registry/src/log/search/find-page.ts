import type { CallRow } from '@repertoire/contract'
import type postgres from 'postgres'
import type { CallPage, CallQuery } from '../../stored.ts'
import { readRows } from '../find-calls.ts'
import { goOnBehind, type FoundIds } from './found-ids.ts'
import { searchTexts } from './search-texts.ts'
import { conditionsOf, orderOf, windowOf } from './where.ts'

// Some forty milliseconds' worth: rows side by side in the order of time, or scattered as an index finds them.
const mostInOrder = 30_000
const mostScattered = 5000

/**
 * A page of the log. The window is a range of keys, so that only its partitions are read; where the filters leave
 * few of many rows, a page looks at so many of them and says where to go on.
 */
export async function findPage(sql: postgres.Sql, query: CallQuery): Promise<CallPage> {
  const { ids, lookedTo } = query.q === undefined ? await findIds(sql, query) : await searchTexts(sql, query)
  const rows = new Map((await readRows(sql, ids)).map((row) => [row.call_id, row]))
  return { rows: ids.flatMap((id): CallRow[] => (rows.has(id) ? [rows.get(id) as CallRow] : [])), lookedTo }
}

async function findIds(sql: postgres.Sql, query: CallQuery): Promise<FoundIds> {
  const { indexed, rest, hasRest, isIndexed } = conditionsOf(sql, query)
  const most = isIndexed ? mostScattered : mostInOrder
  const [window, order] = [windowOf(sql, query), orderOf(sql, query)]
  const found = await sql<{ call_id: string }[]>`
    select c.call_id from (select * from calls c where ${window} ${indexed} ${order} limit ${hasRest ? most : query.limit}) as c
    where true ${rest} ${order} limit ${query.limit}`
  const ids = found.map((row) => row.call_id)
  if (!hasRest || ids.length === query.limit) return { ids, lookedTo: undefined }
  const [last] = await sql<{ call_id: string }[]>`
    select c.call_id from calls c where ${window} ${indexed} ${order} offset ${most - 1} limit 1`
  return { ids, lookedTo: goOnBehind(last?.call_id, { ids, isOldestFirst: query.isOldestFirst }) }
}
