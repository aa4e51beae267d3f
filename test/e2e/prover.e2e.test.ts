import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { houseDir } from '../support/read-house.ts'

// The worker loads what was built, so it is tried from a process that runs what was built.
const program = `
import { createProver } from './services/registry/dist/start/prove-in-worker.js'
const prover = createProver()
const prove = (schema) => prover.prove({ input: { file: 'input.schema.json', text: JSON.stringify(schema) }, output: null, examples: [] })
const good = { type: 'object', properties: { a: { type: 'string' } } }
// Its compilation grows with every level: this one takes far longer than the deadline, or more than the memory.
const nest = (depth) => depth === 0 ? { properties: { x: { type: 'string' } } } : { unevaluatedProperties: false, anyOf: [nest(depth - 1), nest(depth - 1), nest(depth - 1)] }
const inTurn = await Promise.all([prove(good), prove({ type: 'object', properties: { a: { type: 'integr' } } }), prove(good)])
const started = performance.now()
const slow = await prove({ type: 'object', ...nest(11) })
const slowMs = performance.now() - started
const after = await prove(good)
await prover.stop()
console.log(JSON.stringify({ inTurn, slow, slowMs, after }))
`

describe('the proof of schemas in a worker', () => {
  it('goes on after a schema that takes too long or too much, which is refused in time', () => {
    const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: houseDir,
      encoding: 'utf8',
      timeout: 60_000,
      env: { PATH: process.env['PATH'] ?? '' },
    })
    expect([status, stderr]).toEqual([0, ''])
    const found = JSON.parse(stdout)
    expect(found.inTurn).toEqual([
      [],
      [expect.objectContaining({ level: 'error', message: expect.stringContaining('not a valid JSON Schema') })],
      [],
    ])
    expect(found.slow).toEqual([
      expect.objectContaining({ level: 'error', message: expect.stringContaining('the schemas could not be compiled') }),
    ])
    console.log(`a schema that never ends was given up after ${Math.round(found.slowMs)} ms`)
    expect(found.slowMs).toBeLessThan(4 * 2000)
    expect(found.after).toEqual([])
  })
})
