import { markedPlaces } from './find-frames.ts'
import { checksumAt, decodeEntry, payloadAt } from './frames.ts'

// 2^24 uses are 128 TiB of calls; a frame that itself is damaged says some number up to 2^32.
const maxGeneration = 2 ** 24
const maxTries = 100

/** The generation that the frames of a segment were written in, found without its header; undefined when none of them tells. */
export function findGeneration(bytes: Buffer): number | undefined {
  let tries = 0
  for (const at of markedPlaces(bytes, 0)) {
    const payload = payloadAt(bytes, at)
    if (payload === undefined || !isRow(payload)) continue
    const generation = seedOf(payload, checksumAt(bytes, at))
    if (generation > 0 && generation <= maxGeneration) return generation
    if ((tries += 1) >= maxTries) return undefined
  }
  return undefined
}

function isRow(payload: Buffer): boolean {
  try {
    return decodeEntry(payload).row.call_id !== undefined
  } catch {
    return false
  }
}

// A CRC-32 loses nothing, so it runs backwards too: from a payload and its checksum to what it was begun with.
function seedOf(payload: Buffer, checksum: number): number {
  let state = ~checksum
  for (let at = payload.byteLength - 1; at >= 0; at -= 1) {
    const index = indexOfTop[state >>> 24] ?? 0
    state = ((state ^ (table[index] ?? 0)) << 8) | (index ^ (payload[at] ?? 0))
  }
  return ~state >>> 0
}

const polynomial = 0xedb88320
const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1
  return value
})
// Every entry has a top byte of its own, which tells the entry.
const indexOfTop = new Uint8Array(256)
for (const [index, value] of table.entries()) indexOfTop[value >>> 24] = index
