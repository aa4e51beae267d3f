import { limits } from '@repertoire/contract'
import { Refusal, scanJson, type JsonProblem } from '@repertoire/core'
import { decodeUtf8, withoutMark } from '../utf8.ts'
import type { Ask } from './door.ts'

/** A JSON body as a value, and what parsing alone would have hidden. */
export type JsonBody = { readonly value: unknown; readonly problem: JsonProblem | undefined }

/** Reads a body of JSON; no body at all is an empty object. */
export async function readJson(c: Ask, maxBytes: number = limits.jsonBodyBytes): Promise<JsonBody> {
  const bytes = await readBytes(c, maxBytes)
  const type = mediaType(c)
  if (bytes.byteLength === 0 && type === '') return { value: {}, problem: undefined }
  if (type !== 'application/json' && !type.endsWith('+json')) throw unsupported(type, 'application/json')
  return parseJson(bytes)
}

/** Parses bytes as strict JSON, and scans them for what would be changed or lost. */
export function parseJson(bytes: Uint8Array): JsonBody {
  const decoded = decodeUtf8(bytes)
  if (decoded === undefined) throw new Refusal('INVALID_REQUEST', 'The body is not UTF-8.', { details: [{ path: '', rule: 'utf8' }] })
  const text = withoutMark(decoded)
  const value = parseText(text)
  return { value, problem: scanJson(text, limits.jsonDepth) }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const position = /position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1]
    throw new Refusal('INVALID_REQUEST', `The body is not JSON${position === undefined ? '' : `: it breaks at character ${position}`}.`, {
      hint: 'send a JSON object',
      details: [{ path: '', rule: 'json' }],
    })
  }
}

/** Reads a body up to so many bytes; what is larger is refused, by its announced length or by counting. */
export async function readBytes(c: Ask, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(c.req.header('content-length') ?? Number.NaN)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  if (Number.isInteger(announced)) return new Uint8Array(await c.req.arrayBuffer())
  const stream = c.req.raw.body
  if (stream === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw tooLarge(maxBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The media type of a body, without parameters, in lower case. */
export function mediaType(c: Ask): string {
  return (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
}

/** The refusal for a body of a type that a route does not take. */
export function unsupported(type: string, wanted: string): Refusal {
  return new Refusal(
    'UNSUPPORTED_MEDIA_TYPE',
    `This route takes ${wanted}${type === '' ? ', and the body has no type' : `, not ${type.slice(0, 80)}`}.`,
    { hint: `send Content-Type: ${wanted.split(',')[0]}` },
  )
}

function tooLarge(maxBytes: number): Refusal {
  // The rest of the body is not read, so the connection cannot be used again.
  return new Refusal('TOO_LARGE', `The body is larger than ${maxBytes} bytes.`, { hint: 'send less', headers: { connection: 'close' } })
}
