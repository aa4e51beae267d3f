import { bucketOf } from '@repertoire/core'
import fc from 'fast-check'
import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'

// The same few lines that a client in Python needs, written from the description of the bucket alone.
const program = `
import hashlib, json, sys
def lp(text):
    data = text.encode("utf-8")
    return str(len(data)).encode() + b":" + data
def bucket(salt, kind, value):
    digest = hashlib.sha256(lp("b1") + lp(salt) + lp(kind) + lp(value)).digest()
    return int.from_bytes(digest[:4], "big") * 10000 >> 32
print(json.dumps([bucket(*key) for key in json.load(sys.stdin)]))
`
const hasPython = spawnSync('python3', ['--version']).status === 0

it.skipIf(!hasPython)('a unit has the same bucket in Python (skipped where there is no python3)', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom('', '🤖-1', 'ünïcødé-エージェント'))
  const keys = fc.sample(fc.tuple(text, fc.constantFrom('agent', 'session', 'tenant', 'call'), text), { numRuns: 20_000, seed: 1 })
  const run = spawnSync('python3', ['-c', program], { input: JSON.stringify(keys), encoding: 'utf8', maxBuffer: 2 ** 26 })
  expect(run.stderr).toBe('')
  expect(JSON.parse(run.stdout)).toEqual(keys.map(([salt, kind, value]) => bucketOf(salt, kind, value)))
})
