import { limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import busboy from 'busboy'
import { buffer as readAll } from 'node:stream/consumers'

/** The files of a multipart body, by the path that each part names as its file name. */
export async function readMultipart(bytes: Uint8Array, contentType: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  const reading: Promise<void>[] = []
  try {
    const parser = busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      limits: { files: limits.files, fileSize: limits.skillBytes, fields: 16 },
    })
    parser.on('file', (field, stream, info) => {
      const path = info.filename === undefined || info.filename === '' ? field : info.filename
      reading.push(
        readAll(stream).then((content) => {
          if (files.has(path)) throw refuse(`${path} stands in it twice`)
          files.set(path, content)
        }),
      )
    })
    await new Promise<void>((resolve, reject) => {
      parser.on('close', resolve)
      parser.on('error', reject)
      parser.on('filesLimit', () => reject(refuse(`there are more than ${limits.files} files`)))
      parser.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    })
    await Promise.all(reading)
  } catch (error) {
    await Promise.allSettled(reading)
    if (error instanceof Refusal) throw error
    throw refuse(error instanceof Error ? error.message.slice(0, 200) : 'it cannot be read')
  }
  return files
}

function refuse(what: string): Refusal {
  return new Refusal('INVALID_REQUEST', `The form cannot be taken: ${what}.`, {
    hint: 'send each file as a part whose filename is its path',
    details: [{ path: '', rule: 'multipart' }],
  })
}
