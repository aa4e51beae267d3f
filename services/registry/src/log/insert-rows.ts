import type postgres from 'postgres'
import type { ReadyRow } from '../stored.ts'
import { callColumns } from './call-columns.ts'
import { copyInto } from './copy-in.ts'

const columns = callColumns.map(({ name }) => name)
const payloadColumns = ['call_id', 'input', 'output', 'error_message']

/**
 * Inserts rows with their payloads, and answers with the ids of those that were not there before: nothing else may be counted.
 * Whoever calls this holds the one writer's place of the log, so that nobody can bring a row between looking and writing.
 */
export async function insertRows(tx: postgres.TransactionSql, rows: readonly ReadyRow[]): Promise<readonly string[]> {
  if (rows.length === 0) return []
  // Of an id that came twice in one batch, one row is counted.
  const fresh = new Map(rows.map((row) => [row.callId, row]))
  for (const known of await knownOf(tx, [...fresh.keys()])) fresh.delete(known)
  if (fresh.size === 0) return []
  const left = [...fresh.values()]
  await copyInto(tx, { table: 'calls', columns, lines: left.map(({ line }) => line) })
  await copyInto(tx, { table: 'call_payloads', columns: payloadColumns, lines: left.flatMap(payloadLine) })
  return [...fresh.keys()]
}

// The first and the last id leave the partitions out that hold none of them.
async function knownOf(tx: postgres.TransactionSql, ids: readonly string[]): Promise<readonly string[]> {
  const ordered = [...ids].sort()
  const known = await tx<{ call_id: string }[]>`
    select call_id from calls where call_id = any(${ordered}::uuid[]) and call_id between ${ordered[0] ?? ''}::uuid and ${ordered.at(-1) ?? ''}::uuid`
  return known.map((row) => row.call_id)
}

const lineEnd = Buffer.from('\n')

function payloadLine({ callId, input, output, message }: ReadyRow): readonly Buffer[] {
  return [Buffer.from(`${callId}\t${bytesField(input)}\t${bytesField(output)}\t`, 'latin1'), message, lineEnd]
}

function bytesField(value: Uint8Array | null): string {
  return value === null ? '\\N' : `\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
}
