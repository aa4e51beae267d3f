import type postgres from 'postgres'
import type { TailQuestion, TailRow } from '../../tail.ts'
import { rowColumns, toCallRow, type StoredRow } from '../find-calls.ts'

/** Rows in the order in which they were committed, after one of them. */
export async function readAfter(sql: postgres.Sql, { after, upTo, agent, limit }: TailQuestion): Promise<TailRow[]> {
  const rows = await sql<(StoredRow & { readonly seq: number })[]>`
    select c.seq::float8 as seq, ${sql.unsafe(rowColumns)} from calls c left join lateral (select * from call_payloads where call_payloads.call_id = c.call_id offset 0) as p on true
    where c.seq > ${after} ${upTo === undefined ? sql`` : sql`and c.seq <= ${upTo}`} ${agent === undefined ? sql`` : sql`and c.agent_id = ${agent}`}
    order by c.seq limit ${limit}`
  return rows.map(({ seq, ...row }) => ({ seq, row: toCallRow(row as StoredRow) }))
}
