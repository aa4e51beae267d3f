import type postgres from 'postgres'
import type { LogEntry, NewCallRow } from '../stored.ts'
import { callColumns } from './call-columns.ts'
import { copyInto, type CopiedColumn } from './copy-in.ts'

const maxMessageLength = 1024

const payloadColumns: readonly CopiedColumn<NewCallRow>[] = [
  { name: 'call_id', of: (row) => row.call_id },
  { name: 'input', of: (row) => bytes(row.input), isEscaped: true },
  { name: 'output', of: (row) => bytes(row.output), isEscaped: true },
  { name: 'error_message', of: (row) => row.error_message?.slice(0, maxMessageLength) ?? null },
]

const calls = copyInto('calls', callColumns)
const payloads = copyInto('call_payloads', payloadColumns)

/** Writes out rows that will be inserted next, so that nobody waits for it then. */
export function prepareRows(entries: readonly LogEntry[]): void {
  for (const { row, isPlain = false } of entries) {
    calls.prepare(row, isPlain)
    payloads.prepare(row, isPlain)
  }
}

/**
 * Inserts rows with their payloads, and answers with those that were not there before: nothing else may be counted. Whoever
 * calls this holds the one writer's place of the log, so that nobody can bring a row between looking and writing.
 */
export async function insertRows(tx: postgres.TransactionSql, rows: readonly NewCallRow[]): Promise<NewCallRow[]> {
  if (rows.length === 0) return []
  const there = await knownOf(tx, rows)
  // Of an id that came twice in one batch, one row is counted.
  const fresh = [...new Map(rows.map((row) => [row.call_id, row])).values()].filter((row) => !there.has(row.call_id))
  if (fresh.length === 0) return []
  await calls.copy(tx, fresh)
  await payloads.copy(tx, fresh)
  return fresh
}

// The first and the last id leave the partitions out that hold none of them.
async function knownOf(tx: postgres.TransactionSql, rows: readonly NewCallRow[]): Promise<ReadonlySet<string>> {
  const ids = rows.map((row) => row.call_id).sort()
  const known = await tx<{ call_id: string }[]>`
    select call_id from calls where call_id = any(${ids}::uuid[]) and call_id between ${ids[0] ?? ''}::uuid and ${ids.at(-1) ?? ''}::uuid`
  return new Set(known.map((row) => row.call_id))
}

function bytes(value: Uint8Array | null): string | null {
  return value === null ? null : `\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
}
