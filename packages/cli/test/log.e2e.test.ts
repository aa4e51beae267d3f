import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { greetPerson, inFolder } from './greet-person.ts'
import { startRegistry, type TestRegistry } from './registry-process.ts'

let registry: TestRegistry
let run: TestRegistry['run']
let folder: string
const json = (text: string): unknown => JSON.parse(text)

beforeAll(async () => {
  registry = await startRegistry(inFolder('greet-person', greetPerson('1.0.0', '[]')))
  run = registry.run
  folder = await mkdtemp(join(tmpdir(), 'repertoire-export-'))
  for (const name of ['Ada', 'Grace']) await run(['call', 'greet-person', '--params', JSON.stringify({ name })])
  await run(['call', 'greet-person', '--params', '{}'])
})
afterAll(async () => {
  await registry.stop()
  await rm(folder, { recursive: true, force: true })
})

describe('the call log on the command line', () => {
  it('is searched by a part of an input', async () => {
    const { out } = await run(['calls', '--text', 'grace', '--json'])
    expect((json(out) as { items: object[] }).items).toEqual([expect.objectContaining({ input: { name: 'Grace' } })])
    expect((await run(['calls', '--text', 'ab'])).code).toBe(2)
  })
  it('is counted', async () => {
    const told = await run(['stats', '--by', 'skill,outcome'])
    expect(told.out).toMatch(/^SKILL +OUTCOME +CALLS +ERRORS +FAILED +P50 MS +P95 MS +P99 MS\ngreet-person +ok +2 +0\.0% +0\.0%/)
    expect((await run(['stats', 'errors'])).out).toMatch(/INVALID_INPUT +invalid_input +greet-person +1\n/)
    expect((await run(['stats', 'violations', '--json'])).out).toContain('"side": "input"')
    expect((await run(['stats', 'denials'])).err).toBe('nothing in that window\n')
    expect((await run(['stats', 'refusals'])).err).toBe('nobody was turned away in that window\n')
    await fetch(`${registry.url}/v1/skills`, { headers: { authorization: 'Bearer rep_agent_nobody' } })
    expect((await run(['stats', 'refusals'])).out).toMatch(/^AGENT +CODE +REFUSALS\n- +UNAUTHENTICATED +1\n$/)
    expect((await run(['stats', 'refusals', '--by', 'code', '--interval', 'minute'])).out).toMatch(/^TIME \(UTC\) +CODE +REFUSALS\n\d/)
    expect((await run(['stats', 'compare', 'greet-person', '1.0.0', '1.1.0'])).out).toContain('too few units')
    expect((await run(['stats', 'compare', 'greet-person', '1.0.0'])).code).toBe(2)
    expect((await run(['stats', '--by', 'colour'])).code).toBe(3)
  })
  it('is exported to a file that is whole or not there, and to standard output', async () => {
    const file = join(folder, 'calls.ndjson')
    const told = await run(['export', '--output', file])
    expect([told.code, told.out, told.err]).toEqual([0, '', expect.stringMatching(/^3 rows, \d+ KiB\n$/)])
    const rows = (await readFile(file, 'utf8')).trimEnd().split('\n').map(json)
    expect(rows.map((row) => (row as { outcome: string }).outcome)).toEqual(['ok', 'ok', 'invalid_input'])
    const table = await run(['export', '--format', 'csv', '--outcome', 'ok', '--quiet'])
    expect(table.out.trimEnd().split('\r\n')).toHaveLength(3)
    expect((await run(['export', '--from', '2020-01-01', '--to', '2026-01-01'])).code).toBe(3)
  })
  it('is followed, and gone on with where it was left', async () => {
    const first = await run(['tail', '--after', '0', '--count', '2', '--json'])
    const rows = first.out.trimEnd().split('\n').map(json) as { input: { name: string } }[]
    expect(rows.map((row) => row.input.name)).toEqual(['Ada', 'Grace'])
    const place = /--after (\d+)/.exec(first.err)?.[1] ?? ''
    const rest = await run(['tail', '--after', place, '--count', '1'])
    expect([rest.code, rest.out]).toEqual([0, expect.stringMatching(/greet-person@1\.0\.0 stable invalid_input .*INVALID_INPUT\n$/)])
  })
  it('is closed to who has no key', async () => {
    for (const command of [['tail'], ['export'], ['stats']])
      expect((await run(command, { env: { REPERTOIRE_KEY: 'rep_agent_none' } })).code).toBe(4)
  })
})
