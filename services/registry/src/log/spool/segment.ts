import { open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { readFrames } from './frames.ts'

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

/** Bytes of every segment, written once as zeros, so that a sync has no new size to write. */
export const segmentBytes = 8 * 1024 * 1024

/** Bytes before the first frame. */
export const segmentHeaderBytes = 16

const magic = 0x52535031

/** Makes a new file of its full size, or takes one that is free, for its next use. */
export async function beginSegment(
  folder: string,
  { generation, name, free }: { readonly generation: number; readonly name: string; readonly free: string | undefined },
): Promise<Segment> {
  const path = free ?? join(folder, `${name}.seg`)
  const file = await open(path, free === undefined ? 'wx+' : 'r+', 0o600)
  try {
    if (free === undefined) await file.write(Buffer.alloc(segmentBytes), 0, segmentBytes, 0)
    await file.write(headerOf(generation), 0, segmentHeaderBytes, 0)
    await file.datasync()
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

/** Says in the file that nothing in it is needed any more. */
export async function freeSegment(segment: Segment): Promise<string> {
  await segment.file.write(headerOf(0), 0, segmentHeaderBytes, 0)
  await segment.file.close()
  return segment.path
}

/** The segments that a process left behind, oldest first, each up to its last good frame, and the files that are free. */
export async function findSegments(folder: string): Promise<{ readonly used: readonly Segment[]; readonly free: readonly string[] }> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.seg'))
  const used: Segment[] = []
  const free: string[] = []
  for (const name of names) {
    const path = join(folder, name)
    const file = await open(path, 'r+')
    const bytes = Buffer.alloc(segmentBytes)
    const { bytesRead } = await file.read(bytes, 0, segmentBytes, 0)
    const generation = bytesRead >= segmentHeaderBytes && bytes.readUInt32BE(0) === magic ? Number(bytes.readBigUInt64BE(8)) : 0
    const { end } = readFrames(bytes.subarray(segmentHeaderBytes, bytesRead), generation)
    if (generation > 0 && end > 0) used.push({ path, file, generation, end: segmentHeaderBytes + end, drained: segmentHeaderBytes })
    else {
      await file.close()
      // A file that was cut while it was made is not of full size; it is made anew under its name.
      if (bytesRead === segmentBytes) free.push(path)
    }
  }
  return { used: used.sort((a, b) => a.generation - b.generation), free }
}

/** The payloads of a segment that are not in Postgres yet, as many as fit in some bytes, and where the last of them ends. */
export async function readSegment(
  segment: Segment,
  maxBytes: number,
): Promise<{ readonly payloads: readonly Buffer[]; readonly end: number }> {
  const length = Math.min(maxBytes, segment.end - segment.drained)
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await segment.file.read(bytes, 0, length, segment.drained)
  const { payloads, end } = readFrames(bytes.subarray(0, bytesRead), segment.generation)
  return { payloads, end: segment.drained + end }
}

function headerOf(generation: number): Buffer {
  const header = Buffer.alloc(segmentHeaderBytes)
  if (generation === 0) return header
  header.writeUInt32BE(magic, 0)
  header.writeBigUInt64BE(BigInt(generation), 8)
  return header
}
