import { isUtf8 } from 'node:buffer'

/** Bytes as text, a byte order mark included; undefined where they are not UTF-8. A TextDecoder costs ten times as much. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8') : undefined
}

/** A text without the byte order mark it may begin with. */
export function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}
