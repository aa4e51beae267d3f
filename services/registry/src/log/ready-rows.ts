import { crc32 } from 'node:zlib'
import type { LogEntry, NewCallRow, ReadyRow } from '../stored.ts'
import { callColumns } from './call-columns.ts'
import { writeField, writeLine } from './copy-in.ts'

const maxMessageLength = 1024
const headerBytes = 9
const closing = 1
// Behind the first column, which is the call's id.
const tab = 9

// To be raised by whoever changes how a column is written, and not only which there are.
const form = 1
// What an earlier release wrote, whose table had other columns or wrote them otherwise, is written anew from the entry.
const layout = crc32([form, ...callColumns.map(({ name }) => name)].join(' '))

/**
 * Writes a row as it is copied into the log. It is plain when no text in it holds a character that has to be escaped, which is
 * known where it was written as JSON just before; false where nobody looked.
 */
export function writeReadyRow(row: NewCallRow, isPlain = false): ReadyRow {
  const message = row.error_message?.slice(0, maxMessageLength) ?? null
  return {
    callId: row.call_id,
    line: Buffer.from(writeLine(callColumns, row, isPlain)),
    message: Buffer.from(writeField(message, isPlain)),
    input: row.input,
    output: row.output,
  }
}

/**
 * A ready row as a part of a frame beside its payloads, so that bringing it to Postgres is copying bytes: layout, whether it
 * closes an intent, length of the line, line, message. Undefined for an entry that is more than its row.
 */
export function packReadyRow({ row, intent, completes, closesIntent }: LogEntry, isPlain: boolean): Buffer | undefined {
  if (intent !== undefined || completes !== undefined || row.outcome === 'unknown') return undefined
  const { line, message } = writeReadyRow(row, isPlain)
  const bytes = Buffer.allocUnsafe(headerBytes + line.byteLength + message.byteLength)
  bytes.writeUInt32BE(layout, 0)
  bytes.writeUInt8(closesIntent === true ? closing : 0, 4)
  bytes.writeUInt32BE(line.byteLength, 5)
  bytes.set(line, headerBytes)
  bytes.set(message, headerBytes + line.byteLength)
  return bytes
}

/** What such a part says; undefined where the table has other columns by now. */
export function unpackReadyRow(
  part: Buffer,
  payloads: Pick<NewCallRow, 'input' | 'output'>,
): { readonly ready: ReadyRow; readonly closesIntent: boolean } | undefined {
  if (part.byteLength < headerBytes || part.readUInt32BE(0) !== layout) return undefined
  const end = headerBytes + part.readUInt32BE(5)
  const line = part.subarray(headerBytes, end)
  const ready = { callId: line.toString('latin1', 0, line.indexOf(tab)), line, message: part.subarray(end), ...payloads }
  return { ready, closesIntent: part.readUInt8(4) === closing }
}

/** The call an entry is of, without reading more of it than has to be. */
export function callIdOf(entry: LogEntry): string {
  return entry.ready?.callId ?? entry.row.call_id
}
