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

/** Cuts a result where that is plain to see: data becomes null, and a preview says what was there. */
export function cutResult(json: Uint8Array, maxBytes: number, next: string | null): CutResult {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.byteLength)
  const part = Math.floor(maxBytes / 4)
  const head = decodePart(bytes.subarray(0, part))
  const tail = decodePart(bytes.subarray(bytes.length - Math.floor(part / 2)))
  const value: unknown = JSON.parse(bytes.toString('utf8'))
  const list = Array.isArray(value) ? { length: value.length, items: firstItems(value, part) } : {}
  return {
    json: nothing,
    truncated: { bytes: bytes.length, shown: head.length + tail.length, preview: { head, tail, ...list }, next },
  }
}

// A cut in the middle of a character leaves a replacement at the edge, which is taken off again.
function decodePart(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes).replace(/^\uFFFD+|\uFFFD+$/g, '')
}

function firstItems(items: readonly unknown[], maxBytes: number): unknown[] {
  const shown: unknown[] = []
  let bytes = 0
  for (const item of items.slice(0, 10)) {
    bytes += Buffer.byteLength(JSON.stringify(item) ?? 'null')
    if (bytes > maxBytes) break
    shown.push(item)
  }
  return shown
}
