import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bucketOf } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

type Unit = { readonly salt: string; readonly kind: string; readonly value: string }

const vectorFile = fileURLToPath(new URL('../../../../shared/data/vectors/bucket.json', import.meta.url))
let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

const inSql = async (units: readonly Unit[]): Promise<number[]> => {
  const rows = await registry.sql`
    select repertoire_bucket(salt, kind, value) as bucket
    from unnest(${units.map(({ salt }) => salt)}::text[], ${units.map(({ kind }) => kind)}::text[], ${units.map(({ value }) => value)}::text[])
      with ordinality as unit(salt, kind, value, n) order by n`
  return rows.map((row) => Number(row['bucket']))
}
const here = ({ salt, kind, value }: Unit): number => bucketOf(salt, kind, value)

describe('repertoire_bucket', () => {
  it('is the bucket of core for 100 000 keys: short and long, of every script, of none', async () => {
    const next = generator(20_260_101)
    for (let round = 0; round < 5; round += 1) {
      const units = Array.from({ length: 20_000 }, () => unitFrom(next))
      const buckets = await inSql(units)
      const wrong = units.filter((unit, index) => buckets[index] !== here(unit))
      expect(wrong.slice(0, 3)).toEqual([])
      expect(buckets).toHaveLength(units.length)
    }
  })
  it('is the bucket of core for what is easily hashed wrongly', async () => {
    const values = [
      '',
      ' ',
      ':',
      '1:',
      '0:',
      '\\',
      '\\x41',
      "'",
      '"',
      '{}',
      '{a,b}',
      'NULL',
      '\n\t',
      '\u00e9',
      'e\u0301',
      '🤖',
      '👩‍👩‍👧',
      '\uffff',
      '\u{10ffff}',
    ]
    const units = values.flatMap((value) => [
      { salt: '01JAB-salt', kind: 'agent', value },
      { salt: value, kind: 'session', value: 'x' },
      { salt: 'x', kind: value, value: 'y'.repeat(10_000) + value },
    ])
    expect(await inSql(units)).toEqual(units.map(here))
  })
  it('agrees with the golden vectors', async (context) => {
    if (!existsSync(vectorFile)) return context.skip(`the vectors are not here: ${vectorFile}`)
    const { vectors } = JSON.parse(readFileSync(vectorFile, 'utf8')) as { vectors: (Unit & { readonly bucket: number })[] }
    expect(vectors.length).toBeGreaterThan(20)
    expect(await inSql(vectors)).toEqual(vectors.map(({ bucket }) => bucket))
  })
  it('of nothing is nothing, which is in no canary', async () => {
    const [row] = await registry.sql`select repertoire_bucket('salt', 'agent', null) as bucket`
    expect(row?.['bucket']).toBeNull()
  })
})

// Random, and the same every time: a failure can be looked at again.
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const scripts = [
  [0x20, 0x7e],
  [0x01, 0x1f],
  [0xa0, 0x24f],
  [0x370, 0x5ff],
  [0x3040, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xe000, 0xffff],
  [0x1f300, 0x1faff],
  [0x10_000, 0x10_ffff],
] as const

function unitFrom(next: () => number): Unit {
  const text = (maxLength: number): string => {
    const length = Math.floor(next() * (maxLength + 1))
    return Array.from({ length }, () => {
      const [from, to] = scripts[Math.floor(next() * scripts.length)] ?? scripts[0]
      return String.fromCodePoint(from + Math.floor(next() * (to - from + 1)))
    }).join('')
  }
  const kind = (['agent', 'session', 'tenant', 'call'] as const)[Math.floor(next() * 4)] ?? 'agent'
  return { salt: text(30), kind, value: text(next() < 0.01 ? 2000 : 24) }
}
