import { randomUUID } from 'node:crypto'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findFrames, type FoundFrames } from './find-frames.ts'
import { findGeneration } from './find-generation.ts'
import { decodeHeader, segmentHeaderBytes, type SegmentHeader } from './segment-header.ts'
import { restoreSegment, segmentBytes, type Segment } from './segment.ts'

/** The segments that a process left behind, oldest first, the files that are free, and the newest generation of all. */
export type FoundSegments = { readonly used: readonly Segment[]; readonly free: readonly string[]; readonly newest: number }

/** Reads a folder. What is good in a damaged file is brought to a fresh one, and who listens hears of it. */
export async function findSegments(folder: string, onError: (error: unknown) => void): Promise<FoundSegments> {
  const used: Segment[] = []
  const free: string[] = []
  let newest = 0
  for (const name of (await readdir(folder)).filter((entry) => entry.endsWith('.seg'))) {
    const look = await lookInto(join(folder, name))
    newest = Math.max(newest, look.generation)
    if (look.state === 'used') used.push(await openUsed(look))
    else if (look.state === 'free') free.push(look.path)
    else if (look.state === 'empty') await rm(look.path, { force: true })
    else {
      // Where nothing can be written now the file stays what it is, and the next start finds it again.
      const saved = await save(look, { folder, free, onError }).catch(onError)
      if (saved !== undefined) used.push(saved)
    }
  }
  return { used: used.sort((a, b) => a.generation - b.generation), free, newest }
}

type Look = {
  readonly path: string
  /** An empty file is not of full size and holds nothing. */
  readonly state: 'used' | 'free' | 'empty' | 'short' | 'damaged'
  readonly generation: number
  readonly found: FoundFrames
  readonly damagedPlaces: number
}

const nothing: FoundFrames = { pieces: [], rows: 0, end: 0, damagedPlaces: 0 }

async function lookInto(path: string): Promise<Look> {
  const bytes = await readUpTo(path, segmentBytes)
  const header = decodeHeader(bytes)
  const frames = bytes.subarray(segmentHeaderBytes)
  const generation = header?.generation ?? findGeneration(frames) ?? 0
  const found = header?.use === 'free' || generation === 0 ? nothing : findFrames(frames, generation)
  const damagedPlaces = found.damagedPlaces + (header === undefined ? 1 : 0)
  return { path, state: stateOf(bytes, header, found), generation, found, damagedPlaces }
}

function stateOf(bytes: Buffer, header: SegmentHeader | undefined, found: FoundFrames): Look['state'] {
  // A file that was cut while it was made is not of full size, and would need a new size at every sync.
  if (bytes.byteLength < segmentBytes) return found.rows > 0 ? 'short' : 'empty'
  if (header === undefined || found.damagedPlaces > 0) return 'damaged'
  return found.rows > 0 ? 'used' : 'free'
}

async function readUpTo(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (let read = -1; read !== 0; length += read) read = (await file.read(bytes, length, maxBytes - length, length)).bytesRead
    return bytes.subarray(0, length)
  } finally {
    await file.close()
  }
}

async function openUsed({ path, generation, found }: Look): Promise<Segment> {
  return { path, file: await open(path, 'r+'), generation, end: segmentHeaderBytes + found.end, drained: segmentHeaderBytes }
}

type Saving = { readonly folder: string; readonly free: string[]; readonly onError: (error: unknown) => void }

// The rows are on the disk in their new place before the old one goes; a crash between leaves them twice, and Postgres takes them once.
async function save(
  { path, state, generation, found, damagedPlaces }: Look,
  { folder, free, onError }: Saving,
): Promise<Segment | undefined> {
  const start = { generation, name: randomUUID(), free: free.pop() }
  const saved = found.rows === 0 ? undefined : await restoreSegment(folder, start, Buffer.concat(found.pieces))
  if (state === 'damaged') await rename(path, `${path}.damaged`)
  else await rm(path, { force: true })
  const what = damagedPlaces === 0 ? 'is cut short' : `is damaged in ${damagedPlaces} ${damagedPlaces === 1 ? 'place' : 'places'}`
  const rest = state === 'damaged' ? `it is kept aside as ${path}.damaged` : 'it is removed'
  onError(new Error(`${path} ${what}: ${found.rows} ${found.rows === 1 ? 'row was' : 'rows were'} saved from it, and ${rest}`))
  return saved
}
