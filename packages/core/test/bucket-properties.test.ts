import { bucketOf } from '@repertoire/core'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { numRuns, patienceMs } from './check-property.ts'

type Bucketing = (salt: string, unit: string) => number

const units = Array.from({ length: 20_000 }, (_, n) => `agent-${n}`)
// One in a million pairs of independent rollouts lies above: 16 degrees of freedom, and 1.
const limits = { fifths: 59.2, tenth: 24 }

const ours: Bucketing = (salt, unit) => bucketOf(salt, 'agent', unit)
const byCrc32: Bucketing = (salt, unit) => Math.floor((crc32(salt + unit) * 10_000) / 2 ** 32)
const byFnvSuffix: Bucketing = (salt, unit) => Math.floor((fnv1a(unit + salt) * 10_000) / 2 ** 32)

// Salts that differ in one character are the hardest, and the ones that a clock brings about.
const pairs = (count: number): (readonly [string, string])[] =>
  Array.from(
    { length: count },
    (_, n) => [`01JAB${String(n).padStart(6, '0')}-a`, `01JAB${String(n + (n % 7)).padStart(6, '0')}-b`] as const,
  )

describe('two rollouts', { timeout: patienceMs }, () => {
  it('choose their units independently', () => {
    for (const [one, other] of pairs(Math.ceil(numRuns / 100))) {
      const { fifths, tenth } = dependence(ours, one, other)
      expect(fifths).toBeLessThan(limits.fifths)
      expect(tenth).toBeLessThan(limits.tenth)
    }
  })
  it.each([
    ['crc32', byCrc32],
    ['FNV-1a with the salt at the end', byFnvSuffix],
  ] as const)('would not by %s: the same test rejects it', (_, bucketing) => {
    for (const [one, other] of pairs(5)) {
      const { fifths, tenth } = dependence(bucketing, one, other)
      expect(fifths).toBeGreaterThan(limits.fifths * 10)
      expect(tenth).toBeGreaterThan(limits.tenth * 2)
    }
  })
  it('give each bucket its share', () => {
    const counts = Array.from({ length: 100 }, () => 0)
    for (const unit of units) {
      const cell = Math.floor(ours('01JAB-salt', unit) / 100)
      counts[cell] = (counts[cell] ?? 0) + 1
    }
    // 99 degrees of freedom: one in a million lies above 175.
    expect(counts.reduce((sum, count) => sum + (count - 200) ** 2 / 200, 0)).toBeLessThan(175)
  })
})

/** Pearson's χ² of two tables: in which fifth of either rollout the units lie, and whether they lie in the first tenth. */
function dependence(bucketing: Bucketing, one: string, other: string): { readonly fifths: number; readonly tenth: number } {
  const buckets = units.map((unit) => [bucketing(one, unit), bucketing(other, unit)] as const)
  const tableBy = (cellOf: (bucket: number) => number): (readonly [number, number])[] =>
    buckets.map(([first, second]) => [cellOf(first), cellOf(second)] as const)
  return {
    fifths: chiSquare(
      tableBy((bucket) => Math.floor(bucket / 2000)),
      5,
    ),
    tenth: chiSquare(
      tableBy((bucket) => (bucket < 1000 ? 1 : 0)),
      2,
    ),
  }
}

function chiSquare(pairsOfCells: readonly (readonly [number, number])[], size: number): number {
  const table = Array.from({ length: size }, () => Array.from({ length: size }, () => 0))
  for (const [row, column] of pairsOfCells) (table[row] ?? [])[column] = (table[row]?.[column] ?? 0) + 1
  const rows = table.map((row) => row.reduce((sum, count) => sum + count, 0))
  const columns = rows.map((_, column) => table.reduce((sum, row) => sum + (row[column] ?? 0), 0))
  return table
    .flatMap((row, r) => row.map((count, c) => ({ count, expected: ((rows[r] ?? 0) * (columns[c] ?? 0)) / units.length })))
    .reduce((sum, { count, expected }) => sum + (count - expected) ** 2 / expected, 0)
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash >>> 0
}
