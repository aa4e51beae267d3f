import { limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { buffer as readAll } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'

const maxRatio = 100

/** The regular files of a zip by path. Links, wrong sizes, duplicates and bombs are refused; nothing is written anywhere. */
export async function readZip(bytes: Uint8Array): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  try {
    const zip = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      lazyEntries: true,
      validateEntrySizes: true,
      strictFileNames: true,
    })
    let total = 0
    let entries = 0
    for await (const entry of zip.eachEntry()) {
      entries += 1
      if (entries > 2 * limits.files) throw refuse(`it has more than ${2 * limits.files} entries`)
      if (entry.fileName.endsWith('/')) continue
      checkEntry(entry, files)
      total += entry.uncompressedSize
      if (total > limits.skillBytes || files.size >= limits.files)
        throw refuse(`the archive holds more than ${limits.files} files or ${limits.skillBytes} bytes`)
      files.set(entry.fileName, await readEntry(zip, entry))
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw refuse(error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read')
  }
  return files
}

function checkEntry(entry: Entry, files: ReadonlyMap<string, Uint8Array>): void {
  const unixType = (entry.externalFileAttributes >>> 16) & 0o170000
  if (unixType !== 0 && unixType !== 0o100000) throw refuse(`${entry.fileName} is a link or a device`)
  if (files.has(entry.fileName)) throw refuse(`${entry.fileName} stands in it twice`)
  if (entry.uncompressedSize > 1024 && entry.uncompressedSize > entry.compressedSize * maxRatio)
    throw refuse(`${entry.fileName} expands more than ${maxRatio} times`)
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  const bytes = await readAll(await zip.openReadStreamPromise(entry))
  if (crc32(bytes) !== entry.crc32) throw refuse(`${entry.fileName} does not have the checksum that the archive says`)
  return bytes
}

function refuse(what: string): Refusal {
  return new Refusal('INVALID_REQUEST', `The archive cannot be taken: ${what}.`, {
    hint: 'zip the files of the skill folder itself, regular files only',
    details: [{ path: '', rule: 'archive' }],
  })
}
