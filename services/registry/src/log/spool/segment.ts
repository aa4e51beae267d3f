import { constants, open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { readFrames } from './frames.ts'
import { encodeHeader, segmentHeaderBytes } from './segment-header.ts'

/** A file of the spool, in one of its uses; a use is its generation, which grows over all files. */
export type Segment = {
  readonly path: string
  readonly file: FileHandle
  readonly generation: number
  /** Where the next frame goes. */
  end: number
  /** Up to where its frames are in Postgres. */
  drained: number
}

/** How a use of a file begins: its generation, the name for a new file, and the free file to take instead. */
export type SegmentStart = { readonly generation: number; readonly name: string; readonly free: string | undefined }

/** Bytes of every segment, written once as zeros, so that a sync has no new size to write. */
export const segmentBytes = 8 * 1024 * 1024

// Every write is on the disk when it answers, as if fdatasync followed it: one turn of a worker thread instead of two, and to
// hand work over costs more than the work itself.
const { O_RDWR, O_CREAT, O_EXCL, O_DSYNC } = constants
const fileThatIsThere = O_RDWR | O_DSYNC
const newFile = fileThatIsThere | O_CREAT | O_EXCL

/** Makes a new file of its full size, or takes one that is free, for its next use. */
export async function beginSegment(folder: string, { generation, name, free }: SegmentStart): Promise<Segment> {
  const path = free ?? join(folder, `${name}.seg`)
  const file = await open(path, free === undefined ? newFile : fileThatIsThere, 0o600)
  try {
    if (free === undefined) await writeWhole(file, Buffer.alloc(segmentBytes), 0)
    await file.write(encodeHeader({ use: 'taken', generation }), 0, segmentHeaderBytes, 0)
    return { path, file, generation, end: segmentHeaderBytes, drained: segmentHeaderBytes }
  } catch (error) {
    // A disk that is full has no use for a part of a file.
    await file.close()
    await rm(path, { force: true })
    throw error
  }
}

/** Makes a file ready for a later use. */
export async function prepareSegment(folder: string, name: string): Promise<string> {
  const segment = await beginSegment(folder, { generation: 0, name, free: undefined })
  await segment.file.close()
  return segment.path
}

/** Makes a segment out of frames that were written in a generation: a crash leaves it whole, or free. */
export async function restoreSegment(folder: string, start: SegmentStart, frames: Buffer): Promise<Segment> {
  const segment = { ...(await beginSegment(folder, { ...start, generation: 0 })), generation: start.generation }
  try {
    await appendFrames(segment, frames)
    await segment.file.write(encodeHeader({ use: 'taken', generation: start.generation }), 0, segmentHeaderBytes, 0)
    return segment
  } catch (error) {
    await segment.file.close()
    throw error
  }
}

/** Writes frames behind those that are there; they are on the disk once this answers. */
export async function appendFrames(segment: Segment, frames: Buffer): Promise<void> {
  await writeWhole(segment.file, frames, segment.end)
  segment.end += frames.byteLength
}

// A disk that is nearly full takes a part of what it is given, and says so by nothing but a number.
async function writeWhole(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let written = 0; written < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.byteLength - written, at + written)
    written += bytesWritten
  }
}

/** Says in the file that nothing in it is needed any more. */
export async function freeSegment({ path, file, generation }: Segment): Promise<string> {
  await file.write(encodeHeader({ use: 'free', generation }), 0, segmentHeaderBytes, 0)
  await file.close()
  return path
}

/** The payloads of a segment from a place on, as many as fit in some bytes, and where the last of them ends. */
export async function readSegment(
  segment: Segment,
  from: number,
  maxBytes: number,
): Promise<{ readonly payloads: readonly Buffer[]; readonly end: number }> {
  const length = Math.min(maxBytes, segment.end - from)
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await segment.file.read(bytes, 0, length, from)
  const { payloads, end } = readFrames(bytes.subarray(0, bytesRead), segment.generation)
  return { payloads, end: from + end }
}
