import { Refusal, type VersionRecord } from '@repertoire/core'
import { decodeUtf8 } from '../utf8.ts'

/** A result as it will be passed on, and as a value for the output schema. */
export type ReadResult = { readonly json: Uint8Array; readonly value: unknown }

const maxDepth = 200
const byteOrderMark = Buffer.from('\uFEFF')

/**
 * Reads what an executor brought. It becomes part of our envelope byte for byte, so it has to be one JSON value and nothing
 * else, whoever sent it.
 */
export function readResult(version: VersionRecord, bytes: Uint8Array): ReadResult {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const json = buffer.subarray(0, 3).equals(byteOrderMark) ? buffer.subarray(3) : buffer
  const text = decodeUtf8(json)
  const value = text === undefined ? undefined : parse(text)
  if (text === undefined || value === undefined) throw failed(version, 'not_json', 'is not JSON')
  if (isTooDeep(text)) throw failed(version, 'too_deep', `is nested deeper than ${maxDepth}`)
  return { json, value: value.parsed }
}

function parse(text: string): { readonly parsed: unknown } | undefined {
  try {
    return { parsed: JSON.parse(text) }
  } catch {
    return undefined
  }
}

function isTooDeep(text: string): boolean {
  if (text.length <= maxDepth) return false
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '"') {
      at += 1
      while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    } else if (char === '{' || char === '[') {
      depth += 1
      if (depth > maxDepth) return true
    } else if (char === '}' || char === ']') depth -= 1
  }
  return false
}

function failed(version: VersionRecord, reason: string, what: string): Refusal {
  const effect = version.manifest.effects === 'read' ? 'none' : 'possible'
  return new Refusal('EXECUTOR_FAILED', `What ${version.manifest.name} ${version.version} answered ${what}.`, {
    effect,
    details: [{ reason }],
  })
}
