import type postgres from 'postgres'
import type { NewCallRow } from '../ports.ts'
import { callColumns } from './call-columns.ts'

const maxMessageLength = 1024
const names = callColumns.map((column) => `"${column.name}"`).join(', ')
const insertCalls = `insert into calls (${names}) select ${names} from unnest(${callColumns.map((column, index) => `$${index + 1}::${column.type}`).join(', ')}) as batch (${names}) on conflict do nothing`
const insertPayloads = 'insert into call_payloads (call_id, input, output, error_message) select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[]) on conflict do nothing'

/** Writes a batch of call rows with their payloads, in one transaction. */
export async function insertCallRows(sql: postgres.Sql, rows: readonly NewCallRow[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(insertCalls, callColumns.map((column) => rows.map((row) => column.of(row))) as never[], { prepare: true })
    await tx.unsafe(
      insertPayloads,
      [rows.map((row) => row.call_id), rows.map((row) => buffer(row.input)), rows.map((row) => buffer(row.output)), rows.map((row) => row.error_message?.slice(0, maxMessageLength).replaceAll('\u0000', '\uFFFD').toWellFormed() ?? null)] as never[],
      { prepare: true },
    )
  })
}

function buffer(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
