import { hash } from 'node:crypto'

/**
 * The bucket of a unit under a salt, from 0 to 9 999; a unit is in a canary when its bucket is below the basis points.
 * Every part is length-prefixed, so that no two different units share one hashed text.
 */
export function bucketOf(salt: string, unitKind: string, unitValue: string): number {
  const digest = hash('sha256', '2:b1' + prefixed(salt) + prefixed(unitKind) + prefixed(unitValue), 'hex')
  return Math.floor((parseInt(digest.slice(0, 8), 16) * 10_000) / 2 ** 32)
}

function prefixed(text: string): string {
  return `${Buffer.byteLength(text)}:${text}`
}
