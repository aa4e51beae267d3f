import type postgres from 'postgres'
import type { TailQuestion, TailRow } from '../../tail.ts'
import { rowColumns, toCallRow, type StoredRow } from '../find-calls.ts'

/** Rows in the order in which they were committed, after one of them. */
export async function readAfter(sql: postgres.Sql, { after, upTo, agent, limit }: TailQuestion): Promise<TailRow[]> {
  const rows = await sql<(StoredRow & { readonly seq: number })[]>`
    select c.seq::float8 as seq, ${sql.unsafe(rowColumns)} from calls c left join call_payloads p on p.call_id = c.call_id
    where c.seq > ${after} ${upTo === undefined ? sql`` : sql`and c.seq <= ${upTo}`} ${agent === undefined ? sql`` : sql`and c.agent_id = ${agent}`}
    order by c.seq limit ${limit}`
  return rows.map(({ seq, ...row }) => ({ seq, row: toCallRow(row as StoredRow) }))
}
