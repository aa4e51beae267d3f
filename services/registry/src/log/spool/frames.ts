import { crc32 } from 'node:zlib'
import type { NewCallRow } from '../../stored.ts'

/** Bytes before the payload of a frame: its length and its checksum. */
export const frameHeaderBytes = 8

// A row with its two payloads of at most 64 KiB each; what is longer is no frame of ours.
const maxFrameBytes = 4 * 1024 * 1024

/** A row as bytes: its columns as JSON, then input and output as they are, each behind its length. */
export function encodeRow({ input, output, ...columns }: NewCallRow): Buffer {
  return Buffer.concat([Buffer.from(JSON.stringify(columns)), input, output].flatMap((part) => [lengthOf(part), part ?? empty]))
}

/** A row from its bytes. */
export function decodeRow(bytes: Buffer): NewCallRow {
  const parts: (Buffer | null)[] = []
  for (let at = 0; parts.length < 3;) {
    const length = bytes.readInt32BE(at)
    parts.push(length < 0 ? null : bytes.subarray(at + 4, at + 4 + length))
    at += 4 + Math.max(0, length)
  }
  const [columns, input = null, output = null] = parts
  const row = JSON.parse(columns?.toString('utf8') ?? '{}') as Omit<NewCallRow, 'input' | 'output' | 'ts'> & { readonly ts: string }
  return { ...row, ts: new Date(row.ts), input, output }
}

/** A frame: the payload behind its length and a checksum that also covers the generation, so that what an earlier use of the file left is no frame. */
export function frame(payload: Buffer, generation: number): Buffer {
  const header = Buffer.alloc(frameHeaderBytes)
  header.writeUInt32BE(payload.byteLength, 0)
  header.writeUInt32BE(checksum(payload, generation), 4)
  return Buffer.concat([header, payload])
}

/** The payloads of the good frames from an offset on, and where the last of them ends: a torn tail is cut there. */
export function readFrames(bytes: Buffer, generation: number): { readonly payloads: readonly Buffer[]; readonly end: number } {
  const payloads: Buffer[] = []
  let at = 0
  while (at + frameHeaderBytes <= bytes.byteLength) {
    const length = bytes.readUInt32BE(at)
    const start = at + frameHeaderBytes
    if (length === 0 || length > maxFrameBytes || start + length > bytes.byteLength) break
    const payload = bytes.subarray(start, start + length)
    if (bytes.readUInt32BE(at + 4) !== checksum(payload, generation)) break
    payloads.push(payload)
    at = start + length
  }
  return { payloads, end: at }
}

const empty = Buffer.alloc(0)

function lengthOf(part: Uint8Array | null): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(part === null ? -1 : part.byteLength)
  return length
}

function checksum(payload: Buffer, generation: number): number {
  return crc32(payload, generation >>> 0)
}
