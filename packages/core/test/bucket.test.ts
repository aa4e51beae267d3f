import { bucketOf } from '@repertoire/core'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const vectorFile = fileURLToPath(new URL('../../../../shared/data/vectors/bucket.json', import.meta.url))

describe('the bucket of a unit', () => {
  it.each([
    ['agent-1', 4722],
    ['agent-2', 9113],
    ['ünïcødé-エージェント', 5344],
    ['🤖-1', 2591],
    ['', 1770],
  ] as const)('%s', (value, bucket) => {
    expect(bucketOf('01JAB-salt', 'agent', value)).toBe(bucket)
  })
  it('agrees with the golden vectors', (context) => {
    if (!existsSync(vectorFile)) return context.skip(`the vectors are not here: ${vectorFile}`)
    const { vectors } = JSON.parse(readFileSync(vectorFile, 'utf8')) as {
      vectors: { salt: string; kind: string; value: string; bucket: number }[]
    }
    expect(vectors.length).toBeGreaterThan(20)
    expect(vectors.map((vector) => bucketOf(vector.salt, vector.kind, vector.value))).toEqual(vectors.map((vector) => vector.bucket))
  })
})
