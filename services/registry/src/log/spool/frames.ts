import { crc32 } from 'node:zlib'
import type { Redaction } from '@repertoire/contract'
import type { Completion, LogEntry, NewCallRow } from '../../stored.ts'
import { packReadyRow, unpackReadyRow } from '../ready-rows.ts'

/** Bytes before the payload of a frame: its length and its checksum. */
export const frameHeaderBytes = 8

/** A row with its two payloads of at most 64 KiB each, and perhaps an answer; what is longer is no frame of ours. */
export const maxFrameBytes = 4 * 1024 * 1024

const marker = '{"call_id"'
/** What the payload of every frame begins with, behind the length of its first part: by it a frame is found whose place is not known. */
export const rowMarker = Buffer.from(marker)

/** Bytes of a frame before that marker. */
export const bytesBeforeMarker = frameHeaderBytes + 4

type Beside = Omit<LogEntry, 'row' | 'completes' | 'ready'> & { readonly completes?: Omit<Completion, 'answer'> }

/**
 * An entry as bytes: its columns as JSON, then input, output, a kept answer and the row as it is copied, each behind its
 * length. What it is, is what the JSON says; the row as it is copied saves those who bring it to Postgres from writing it again.
 */
export function encodeEntry(entry: LogEntry): Buffer {
  const { row, completes, ready: _, ...beside } = entry
  const { answer = null, ...claim } = completes ?? {}
  const told: Beside = completes === undefined ? beside : { ...beside, completes: claim as Omit<Completion, 'answer'> }
  const json = writeColumns(row, told)
  // JSON writes control characters, backslashes and halves of surrogate pairs with a backslash: without one there are none.
  const ready = packReadyRow(entry, !json.includes('\\'))
  return joinParts([Buffer.from(json), row.input, row.output, answer, ...(ready === undefined ? [] : [ready])])
}

/** A row alone as bytes, as it is kept for a call that has begun. */
export function encodeRow(row: NewCallRow): Buffer {
  return joinParts([Buffer.from(writeColumns(row, {})), row.input, row.output])
}

function writeColumns(row: NewCallRow, told: Beside): string {
  // A copy of one shape, and what is undefined is left out: taking forty columns apart costs more than writing them.
  const columns = { ...row, input: undefined, output: undefined }
  const hasMore = Object.keys(told).length > 0
  const json = JSON.stringify(hasMore ? { ...columns, beside: told } : columns)
  if (json.startsWith(marker)) return json
  const { call_id, ...others } = columns
  return JSON.stringify({ call_id, ...others, ...(hasMore ? { beside: told } : {}) })
}

function joinParts(parts: readonly (Uint8Array | null)[]): Buffer {
  const bytes = Buffer.allocUnsafe(parts.reduce((sum, part) => sum + 4 + (part?.byteLength ?? 0), 0))
  let at = 0
  for (const part of parts) {
    at = bytes.writeInt32BE(part === null ? -1 : part.byteLength, at)
    if (part === null) continue
    bytes.set(part, at)
    at += part.byteLength
  }
  return bytes
}

type Payloads = Pick<NewCallRow, 'input' | 'output'>
type Written = Omit<NewCallRow, 'input' | 'output' | 'ts' | 'redaction'> & { ts: string | Date; redaction?: Redaction; beside?: Beside }

/** An entry from its bytes; what is written in it as it is copied is read only when somebody asks for it. */
export function decodeEntry(bytes: Buffer): LogEntry {
  const [columns = null, input = null, output = null, answer = null, packed = null] = partsOf(bytes)
  const read = packed === null ? undefined : unpackReadyRow(packed, { input, output })
  if (read === undefined) return parseEntry(columns, { input, output, answer })
  let parsed: LogEntry | undefined
  return {
    ...read,
    get row() {
      parsed ??= parseEntry(columns, { input, output, answer })
      return parsed.row
    },
  }
}

function partsOf(bytes: Buffer): readonly (Buffer | null)[] {
  const parts: (Buffer | null)[] = []
  for (let at = 0; at + 4 <= bytes.byteLength;) {
    const length = bytes.readInt32BE(at)
    parts.push(length < 0 ? null : bytes.subarray(at + 4, at + 4 + length))
    at += 4 + Math.max(0, length)
  }
  return parts
}

function parseEntry(columns: Buffer | null, { answer, ...payloads }: Payloads & { readonly answer: Buffer | null }): LogEntry {
  // What was parsed becomes the row itself: a copy of forty columns costs as much as parsing them, twice over in what reads it.
  const parsed = JSON.parse(columns?.toString('utf8') ?? '{}') as Written
  const { beside } = parsed
  if (beside !== undefined) delete parsed.beside
  // Rows that were spooled before there was redaction say nothing of it.
  parsed.redaction ??= { rules: [], count: 0, failed: false }
  const row = Object.assign(parsed, { ts: new Date(parsed.ts), ...payloads }) as NewCallRow
  const { completes, ...told } = beside ?? {}
  return completes === undefined ? { row, ...told } : { row, ...told, completes: { ...completes, answer } }
}

/** Frames: each payload behind its length and a checksum that also covers the generation, so that what an earlier use of the file left is no frame. */
export function frameAll(payloads: readonly Buffer[], generation: number): Buffer {
  const bytes = Buffer.allocUnsafe(payloads.reduce((sum, payload) => sum + frameHeaderBytes + payload.byteLength, 0))
  let at = 0
  for (const payload of payloads) {
    at = bytes.writeUInt32BE(payload.byteLength, at)
    at = bytes.writeUInt32BE(checksum(payload, generation), at)
    bytes.set(payload, at)
    at += payload.byteLength
  }
  return bytes
}

/** The payloads of the good frames from an offset on, and where the last of them ends: a torn tail is cut there. */
export function readFrames(bytes: Buffer, generation: number): { readonly payloads: readonly Buffer[]; readonly end: number } {
  const payloads: Buffer[] = []
  let at = 0
  while (isFrameAt(bytes, at, generation)) {
    const payload = payloadAt(bytes, at) ?? empty
    payloads.push(payload)
    at += frameHeaderBytes + payload.byteLength
  }
  return { payloads, end: at }
}

/** The payload that a frame at an offset would have by its length, good or not; undefined where no frame can be. */
export function payloadAt(bytes: Buffer, at: number): Buffer | undefined {
  const start = at + frameHeaderBytes
  if (at < 0 || start > bytes.byteLength) return undefined
  const length = bytes.readUInt32BE(at)
  if (length === 0 || length > maxFrameBytes || start + length > bytes.byteLength) return undefined
  return bytes.subarray(start, start + length)
}

/** The checksum that a frame at an offset carries. */
export function checksumAt(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at + 4)
}

/** Whether a good frame of a generation begins at an offset. */
export function isFrameAt(bytes: Buffer, at: number, generation: number): boolean {
  const payload = payloadAt(bytes, at)
  return payload !== undefined && checksumAt(bytes, at) === checksum(payload, generation)
}

const empty = Buffer.alloc(0)

function checksum(payload: Buffer, generation: number): number {
  return crc32(payload, generation >>> 0)
}
