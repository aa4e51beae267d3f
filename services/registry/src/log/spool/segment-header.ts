import { crc32 } from 'node:zlib'

/** What stands before the frames of a segment: whether they are needed, and the generation of this use or of the last one. */
export type SegmentHeader = { readonly use: 'taken' | 'free'; readonly generation: number }

/** Bytes before the first frame. */
export const segmentHeaderBytes = 16

const magics = { taken: 0x52535031, free: 0x52534630 } as const
const blank = Buffer.alloc(segmentHeaderBytes)

/**
 * A header as bytes. A free file keeps the generation of its last use, so that no later one takes the same number and
 * reads what that left as its own; a file that was never used has zeros.
 */
export function encodeHeader({ use, generation }: SegmentHeader): Buffer {
  const header = Buffer.from(blank)
  if (generation === 0) return header
  header.writeUInt32BE(magics[use], 0)
  header.writeBigUInt64BE(BigInt(generation), 8)
  header.writeUInt32BE(checksum(header), 4)
  return header
}

/** The header that bytes begin with; undefined when it is damaged. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  const header = bytes.subarray(0, segmentHeaderBytes)
  if (header.equals(blank)) return { use: 'free', generation: 0 }
  if (header.byteLength < segmentHeaderBytes) return undefined
  const use = magics.taken === header.readUInt32BE(0) ? 'taken' : magics.free === header.readUInt32BE(0) ? 'free' : undefined
  const sum = header.readUInt32BE(4)
  // Earlier releases wrote zeros in the place of the checksum.
  if (use === undefined || (sum !== 0 && sum !== checksum(header))) return undefined
  return { use, generation: Number(header.readBigUInt64BE(8)) }
}

function checksum(header: Buffer): number {
  return crc32(header.subarray(8), crc32(header.subarray(0, 4)))
}
