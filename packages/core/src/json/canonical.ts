import { createHash } from 'node:crypto'

/** A JSON value as text in which key order and white space do not count. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`).join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** The SHA-256 of some bytes, as `sha256:` and lower-case hex. */
export function digestOf(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}
