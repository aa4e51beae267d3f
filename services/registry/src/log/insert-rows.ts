import type postgres from 'postgres'
import type { NewCallRow } from '../stored.ts'
import { callColumns } from './call-columns.ts'

const maxMessageLength = 1024
const names = callColumns.map((column) => `"${column.name}"`).join(', ')
const values = callColumns.map((column) => `"${column.name}"${column.cast ?? ''}`).join(', ')
const insertCalls = `insert into calls (${names}) select ${values} from unnest(${callColumns.map((column, index) => `$${index + 1}::${column.type}`).join(', ')}) as batch (${names}) on conflict do nothing returning call_id`
// The driver takes an array of bytes for one value of bytes, so they travel as hex.
const insertPayloads = `insert into call_payloads (call_id, input, output, error_message)
  select id, decode(input, 'hex'), decode(output, 'hex'), message from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as batch (id, input, output, message) on conflict do nothing`

/** Inserts rows with their payloads, and answers with those that were not there before: nothing else may be counted. */
export async function insertRows(tx: postgres.TransactionSql, rows: readonly NewCallRow[]): Promise<NewCallRow[]> {
  if (rows.length === 0) return []
  const inserted = await tx.unsafe(insertCalls, callColumns.map((column) => rows.map((row) => column.of(row))) as never[], {
    prepare: true,
  })
  const fresh = new Set(inserted.map((row) => String(row['call_id'])))
  // Of an id that came twice in one batch, one row is counted.
  const isFresh = (row: NewCallRow): boolean => fresh.delete(row.call_id)
  const counted = rows.filter(isFresh)
  if (counted.length === 0) return []
  await tx.unsafe(
    insertPayloads,
    [
      counted.map((row) => row.call_id),
      counted.map((row) => hex(row.input)),
      counted.map((row) => hex(row.output)),
      counted.map((row) => row.error_message?.slice(0, maxMessageLength).replaceAll('\u0000', '\uFFFD').toWellFormed() ?? null),
    ] as never[],
    { prepare: true },
  )
  return counted
}

function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
