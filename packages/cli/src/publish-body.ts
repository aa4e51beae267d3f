import type { PublishBody } from '@repertoire/contract/sdk'
import { isUtf8 } from 'node:buffer'

/** What is published: the files, what fills in for a silent front matter, and the folder they lay in. */
export type PublishParts = {
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly defaults?: PublishBody['defaults']
  readonly folder: string
}

/** Writes the body of a publish: text as text, and as base64 whatever JSON could not carry unchanged. */
export function writePublishBody({ files, defaults, folder }: PublishParts): PublishBody {
  return {
    files: Object.fromEntries([...files].map(([path, bytes]) => [path, writeFile(bytes)])),
    folder: folder.slice(0, 255),
    ...(defaults === undefined ? {} : { defaults }),
  }
}

function writeFile(bytes: Uint8Array): string | { base64: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!isUtf8(buffer) || buffer.includes(0)) return { base64: buffer.toString('base64') }
  const text = buffer.toString('utf8')
  // Many escapes can make text longer than base64, and the body has a limit.
  return JSON.stringify(text).length > (buffer.byteLength * 4) / 3 + 16 ? { base64: buffer.toString('base64') } : text
}
