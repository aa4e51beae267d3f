import { createItemReader, scanJson } from '@repertoire/core'

/** A preview of a result that does not fit. */
export type CutResult = { readonly json: Uint8Array; readonly truncated: Truncated }

/** What is said of a result that was cut: sizes in bytes, its beginning and end, and the length and first items of an array. */
export type Truncated = {
  readonly bytes: number
  readonly shown: number
  readonly preview: { readonly head: string; readonly tail: string; readonly length?: number; readonly items?: readonly unknown[] }
  /** Where the whole is to be read, piece by piece; null when it could not be kept. */
  readonly next: string | null
}

const nothing = Buffer.from('null')
const maxDepth = 200

/** Cuts a result where that is plain to see: data becomes null, and a preview says what was there. */
export function cutResult(json: Uint8Array, maxBytes: number, next: string | null): CutResult {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const part = Math.floor(maxBytes / 4)
  const head = decodePart(bytes.subarray(0, part))
  const tail = decodePart(bytes.subarray(bytes.length - Math.floor(part / 2)))
  const text = bytes.toString('utf8')
  const value: unknown = JSON.parse(text)
  const list = Array.isArray(value) ? { length: value.length, items: firstItems(text, part) } : {}
  return {
    json: nothing,
    truncated: { bytes: bytes.length, shown: Buffer.byteLength(head) + Buffer.byteLength(tail), preview: { head, tail, ...list }, next },
  }
}

// A cut in the middle of a character leaves a replacement at the edge, which is taken off again.
function decodePart(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/^\uFFFD+|\uFFFD+$/g, '')
}

// Up to the first that would come out as another one, such as a number beyond 2^53: it is read where it stands, by its piece.
function firstItems(text: string, maxBytes: number): unknown[] {
  const reader = createItemReader({ from: 0, to: 9, mostCharacters: maxBytes })
  reader.read(text)
  const shown: unknown[] = []
  let bytes = 0
  for (const item of reader.soFar()) {
    bytes += Buffer.byteLength(item)
    if (bytes > maxBytes || scanJson(item, maxDepth) !== undefined) break
    shown.push(JSON.parse(item))
  }
  return shown
}
