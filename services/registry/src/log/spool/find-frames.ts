import { bytesBeforeMarker, frameHeaderBytes, isFrameAt, payloadAt, readFrames, rowMarker } from './frames.ts'

/** The good frames of a segment as pieces of its bytes, in order, and how many places between them are damaged. */
export type FoundFrames = {
  readonly pieces: readonly Buffer[]
  readonly rows: number
  /** Where the last good frame ends. */
  readonly end: number
  readonly damagedPlaces: number
}

// What callers sent may look like frames: no more than this is compared with a checksum while the next one is looked for.
const maxCheckedBytes = 128 * 1024 * 1024

/** Finds every good frame, also behind damaged ones; a tail with nothing good behind it is torn, not damaged. */
export function findFrames(bytes: Buffer, generation: number): FoundFrames {
  const pieces: Buffer[] = []
  let rows = 0
  let end = 0
  let damagedPlaces = 0
  for (let at: number | undefined = 0; at !== undefined;) {
    const run = readFrames(bytes.subarray(at), generation)
    if (run.end > 0) pieces.push(bytes.subarray(at, at + run.end))
    rows += run.payloads.length
    end = at + run.end
    at = frameBehind(bytes, end, generation)
    if (at !== undefined) damagedPlaces += 1
  }
  return { pieces, rows, end, damagedPlaces }
}

// Lengths may be damaged so that they lead past good frames, so the nearest one counts that either way finds.
function frameBehind(bytes: Buffer, broken: number, generation: number): number | undefined {
  const reached = hopTo(bytes, broken, generation)
  let checked = 0
  for (const at of markedPlaces(bytes, broken + 1)) {
    if (checked > maxCheckedBytes || (reached !== undefined && at >= reached)) break
    if (isFrameAt(bytes, at, generation)) return at
    checked += payloadAt(bytes, at)?.byteLength ?? 0
  }
  return reached
}

function hopTo(bytes: Buffer, broken: number, generation: number): number | undefined {
  let at = broken
  for (let payload = payloadAt(bytes, at); payload !== undefined; payload = payloadAt(bytes, at)) {
    at += frameHeaderBytes + payload.byteLength
    if (isFrameAt(bytes, at, generation)) return at
  }
  return undefined
}

/** The offsets from one on at which a frame would begin by what its row begins with. */
export function* markedPlaces(bytes: Buffer, from: number): Generator<number> {
  let marker = bytes.indexOf(rowMarker, from + bytesBeforeMarker)
  while (marker >= 0) {
    yield marker - bytesBeforeMarker
    marker = bytes.indexOf(rowMarker, marker + 1)
  }
}
