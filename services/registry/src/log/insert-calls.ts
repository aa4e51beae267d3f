import type postgres from 'postgres'
import type { NewCallRow } from '../stored.ts'
import { ForeignDatabase } from '../store/transaction.ts'
import { callColumns } from './call-columns.ts'

const drainLock = 0x5245504c
const maxMessageLength = 1024
const names = callColumns.map((column) => `"${column.name}"`).join(', ')
const values = callColumns.map((column) => `"${column.name}"${column.cast ?? ''}`).join(', ')
const insertCalls = `insert into calls (${names}) select ${values} from unnest(${callColumns.map((column, index) => `$${index + 1}::${column.type}`).join(', ')}) as batch (${names}) on conflict do nothing`
// The driver takes an array of bytes for one value of bytes, so they travel as hex.
const insertPayloads = `insert into call_payloads (call_id, input, output, error_message)
  select id, decode(input, 'hex'), decode(output, 'hex'), message from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as batch (id, input, output, message) on conflict do nothing`

/** Writes a batch of call rows with their payloads, in one transaction. */
export async function insertCallRows(sql: postgres.Sql, rows: readonly NewCallRow[], installId: string): Promise<void> {
  await sql.begin(async (tx) => {
    // One drain at a time over all replicas: so the order of seq is the order of commits.
    const [owner] = await tx`select install_id, pg_advisory_xact_lock(${drainLock}) from installation`
    if (owner?.['install_id'] !== installId) throw new ForeignDatabase()
    await tx.unsafe(insertCalls, callColumns.map((column) => rows.map((row) => column.of(row))) as never[], { prepare: true })
    await tx.unsafe(
      insertPayloads,
      [
        rows.map((row) => row.call_id),
        rows.map((row) => hex(row.input)),
        rows.map((row) => hex(row.output)),
        rows.map((row) => row.error_message?.slice(0, maxMessageLength).replaceAll('\u0000', '\uFFFD').toWellFormed() ?? null),
      ] as never[],
      { prepare: true },
    )
  })
}

function hex(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
