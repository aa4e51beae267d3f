import { cleanJson } from './clean-json.ts'
import { cleanText, searchFor, type Tally } from './clean-text.ts'
import type { RedactionPolicy } from './policy.ts'
import { marksFor, type Marks } from './schema-marks.ts'

/** A payload to be redacted: its exact bytes, the schema it has to satisfy, and how much of it will be kept. */
export type Payload = { readonly bytes: Uint8Array; readonly schema?: string | null; readonly maxBytes?: number }

/** What may be kept of a payload, which rules took something out of it, and how often. When anything failed, nothing is kept. */
export type RedactedPayload = {
  readonly bytes: Uint8Array | null
  readonly rules: readonly string[]
  readonly count: number
  readonly failed: boolean
  /** Whether the payload goes on behind what is kept. */
  readonly cut: boolean
}

/**
 * Redacts a payload, JSON or any other text, in four layers: schema, names of members, shapes, the operator's rules. What is not
 * touched stays as it was to the byte. It never throws.
 */
export function redactPayload(policy: RedactionPolicy, { bytes, schema, maxBytes = Number.MAX_SAFE_INTEGER }: Payload): RedactedPayload {
  const tally: Tally = { rules: new Set(), count: 0 }
  try {
    const part = beginOf(bytes, maxBytes + lookAheadBytes)
    const isPart = part.byteLength < bytes.byteLength
    const { text, encoding } = decode(part)
    const marks = schema === undefined || schema === null ? undefined : marksFor(schema)
    const cleaned = clean(policy, { text, isPart, marks }, tally)
    const whole = cleaned === text ? part : Buffer.from(cleaned, encoding)
    const kept = beginOf(whole, Math.min(maxBytes, whole.byteLength - (isPart ? marginBytes : 0)))
    return {
      bytes: kept,
      rules: [...tally.rules].sort(),
      count: tally.count,
      failed: false,
      cut: isPart || kept.byteLength < whole.byteLength,
    }
  } catch {
    return { bytes: null, rules: [...tally.rules].sort(), count: tally.count, failed: true, cut: false }
  }
}

/** A text without its secrets, for what is no payload; when that fails, a mark in place of all of it. */
export function redactText(policy: RedactionPolicy, text: string): string {
  try {
    return clean(policy, { text, isPart: false, marks: undefined }, { rules: new Set(), count: 0 })
  } catch {
    return '[redacted:failed]'
  }
}

// Of a long payload only the beginning is searched, twice as much as a row keeps: what begins in the kept half is seen whole.
const lookAheadBytes = 64 * 1024
// Where redaction made the beginning shorter, its end is kept too, but for this: no shape needs as much to be told by.
const marginBytes = 8 * 1024

function clean(
  policy: RedactionPolicy,
  { text, isPart, marks }: { readonly text: string; readonly isPart: boolean; readonly marks: Marks | undefined },
  tally: Tally,
): string {
  const search = searchFor(policy, text, tally)
  const json = cleanJson({ text, isPart, marks, search })
  if (json !== undefined) return json
  // What a schema marks cannot be found in a text that is no JSON.
  if (marks !== undefined) throw new Error('a payload with a schema that marks secrets is no JSON')
  tally.rules.clear()
  tally.count = 0
  return cleanText(search, text).text
}

// What is no UTF-8 is read byte by byte, so that it can be written again as it was.
function decode(bytes: Uint8Array): { readonly text: string; readonly encoding: 'utf8' | 'latin1' } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString('utf8')
  const isUtf8 = !text.includes('\uFFFD') || Buffer.from(text).equals(buffer)
  return isUtf8 ? { text, encoding: 'utf8' } : { text: buffer.toString('latin1'), encoding: 'latin1' }
}

// A character is kept whole or not at all.
function beginOf(bytes: Uint8Array, maxBytes: number): Uint8Array {
  if (bytes.byteLength <= maxBytes) return bytes
  let end = Math.max(0, maxBytes)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end)
}
