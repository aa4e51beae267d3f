import type { Role } from '@repertoire/contract'
import { crc32 } from 'node:zlib'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const kinds = { agent: 'agent', publisher: 'pub', operator: 'ops', auditor: 'aud', admin: 'adm' } as const satisfies Record<Role, string>
const shape = /^rep_(agent|pub|ops|aud|adm|cap)_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/

/** The kind in the key of a role. */
export function keyKind(role: Role): string {
  return kinds[role]
}

/** Writes a key from 32 or more random bytes: `rep_<kind>_<32 base62><6 base62 CRC32>`. */
export function writeKey(kind: string, random: Uint8Array): string {
  // Bytes above 247 are left out, so that every letter is equally likely.
  const letters = [...random].filter((byte) => byte < 248).map((byte) => alphabet[byte % 62])
  if (letters.length < 32) throw new RangeError('a key needs more random bytes')
  const body = `rep_${kind}_${letters.slice(0, 32).join('')}`
  return body + checksum(body)
}

/** Whether a text has the shape and the checksum of a key; whether it is known is another question. */
export function isWellFormedKey(text: string): boolean {
  return shape.test(text) && checksum(text.slice(0, -6)) === text.slice(-6)
}

function checksum(body: string): string {
  let rest = crc32(body)
  let letters = ''
  for (let index = 0; index < 6; index += 1) {
    letters = `${alphabet[rest % 62]}${letters}`
    rest = Math.floor(rest / 62)
  }
  return letters
}
