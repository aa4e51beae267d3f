import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inFolder } from './greet-person.ts'
import { startRegistry, type Ran, type TestRegistry } from './registry-process.ts'

let registry: TestRegistry
let run: TestRegistry['run']
let bot: { readonly REPERTOIRE_KEY: string }
const asBot = (...args: string[]): Promise<Ran> => run(args, { env: bot })
const json = <T = Record<string, unknown>>({ out }: Ran): T => JSON.parse(out) as T
const call = (params: object, ...more: string[]): Promise<Ran> => asBot('call', 'make-list', '--params', JSON.stringify(params), ...more)
const idOf = ({ err }: Ran): string => /call ([0-9a-f-]{36})/.exec(err)?.[1] ?? ''

const makeList = {
  'SKILL.md': `---
name: make-list
version: 1.0.0
description: Makes a list of so many things.
when_to_use: Use it when somebody wants a list.
permission: []
effects: once
timeout_ms: 60000
examples:
  - say: make a list of 3
    params: {count: 3}
errors:
  - code: TOO_LONG
    when: the list is too long
---
# Make a list
`,
  'input.schema.json':
    '{"type":"object","properties":{"count":{"type":"integer"},"ms":{"type":"integer"},"text":{"type":"boolean"}},"required":["count"],"additionalProperties":false}',
  'skill.js': `export async function run({ count, ms = 0, text = false }, context) {
  if (count > 200000) context.refuse('TOO_LONG', 'nobody reads that')
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms))
  const items = Array.from({ length: count }, (_, index) => 'thing ' + index + ' \\u001b[31m\\u{1f600}')
  return text ? items.join('\\n') : items
}
`,
}
const things = (count: number): string[] => Array.from({ length: count }, (_, index) => `thing ${index} \u001b[31m😀`)

beforeAll(async () => {
  registry = await startRegistry(inFolder('make-list', makeList))
  run = registry.run
  await run(['agents', 'create', 'bot'])
  bot = { REPERTOIRE_KEY: (await run(['keys', 'create', 'bot', '--quiet'])).out.trim() }
})
afterAll(() => registry.stop())

describe('a call in the background', () => {
  it('is an id at once, and its data when it was waited for, whole', async () => {
    const started = await call({ count: 2, ms: 300 }, '--async')
    expect([started.code, started.out]).toEqual([0, `${idOf(started)}\n`])
    expect(started.err).toMatch(/^make-list 1\.0\.0 \(stable\) runs in the background; call [^]*repertoire cancel/)
    const waited = await call({ count: 100_000, ms: 300 }, '--wait')
    expect([waited.code, json<string[]>(waited)]).toEqual([0, things(100_000)])
    expect(waited.err).toMatch(/runs in the background; call [^]*\nmake-list 1\.0\.0 \(stable\) answered in \d+ ms; call /)
    expect(json(await call({ count: 1 }, '--async', '--json'))).toMatchObject({ call_id: expect.any(String) as string, state: 'running' })
  })
  it('fails as one that was waited for all along', async () => {
    const refused = await call({ count: 200_001 }, '--wait', '--json')
    expect([refused.code, json(refused)]).toEqual([8, { error: expect.objectContaining({ code: 'TOO_LONG', origin: 'skill' }) as unknown }])
    const late = await call({ count: 1, ms: 20_000 }, '--wait', '--timeout-ms', '300')
    expect([late.code, late.err]).toEqual([7, expect.stringContaining('(TIMEOUT)')])
  })
  it('is ended by cancel, once', async () => {
    const id = idOf(await call({ count: 1, ms: 50_000 }, '--async'))
    expect((await asBot('cancel', id)).out).toBe(`call ${id} is asked to end\n`)
    await expect.poll(async () => json(await asBot('calls', id, '--json'))['outcome'], { timeout: 10_000 }).toBe('cancelled')
    expect((await asBot('cancel', id)).code).toBe(6)
    expect((await asBot('cancel', 'nonsense')).code).toBe(5)
  })
  it('has one effect under one key', async () => {
    const [first, second] = [await call({ count: 3 }, '--idempotency-key', 'k-1'), await call({ count: 3 }, '--idempotency-key', 'k-1')]
    expect([second.code, second.out, idOf(second)]).toEqual([0, first.out, idOf(first)])
    expect((await call({ count: 4 }, '--idempotency-key', 'k-1')).code).toBe(3)
    expect((await call({ count: 3 }, '--idempotency-key', 'two words')).code).toBe(2)
  })
})

describe('result', () => {
  it('streams the exact text to the end, and a file appears once it is whole', async () => {
    const id = idOf(await call({ count: 150_000 }))
    const text = JSON.stringify(things(150_000))
    const streamed = await asBot('result', id)
    expect([streamed.code, streamed.out === text]).toEqual([0, true])
    const file = join(registry.folder, 'list.json')
    const wrote = await asBot('result', id, '--out', file)
    expect([wrote.code, wrote.out, wrote.err]).toEqual([0, '', `${Buffer.byteLength(text)} bytes are in ${file}\n`])
    expect((await readFile(file, 'utf8')) === text).toBe(true)
    expect((await asBot('result', id, '--out', join(registry.folder, 'absent', 'list.json'))).code).toBe(2)
    // The result is its agent's alone.
    expect((await run(['result', id])).code).toBe(5)
    expect((await run(['result', id, '--out', join(registry.folder, 'not-mine.json')])).code).toBe(5)
    expect((await readdir(registry.folder)).filter((name) => name.includes('not-mine'))).toEqual([])
  })
  it('gives some items, or some lines', async () => {
    const items = await asBot('result', idOf(await call({ count: 150_000 })), '--items', '149998-150005')
    expect(json<string[]>(items)).toEqual(things(150_000).slice(149_998))
    const id = idOf(await call({ count: 150_000, text: true }))
    expect((await asBot('result', id, '--lines', '1-2')).out).toBe(`${things(3).slice(1).join('\n')}\n`)
    expect(json<string[]>(await asBot('result', id, '--lines', '1-2', '--json'))).toEqual(things(3).slice(1))
    for (const wrong of [
      ['--items', '5-1'],
      ['--items', 'all'],
      ['--items', '0-1', '--lines', '0-1'],
    ])
      expect((await asBot('result', id, ...wrong)).code).toBe(2)
    const kept = await asBot('result', idOf(await call({ count: 1 })))
    expect([kept.code, kept.err]).toEqual([6, expect.stringContaining('(EXPIRED)')])
    expect(existsSync(join(registry.folder, 'list.json.part'))).toBe(false)
  })
})

describe('replay', () => {
  it('says what would be called, and calls only when told', async () => {
    const id = idOf(await call({ count: 1 }))
    const dry = await asBot('replay', id)
    expect([dry.code, json(dry)]).toEqual([
      0,
      { would_call: { skill: 'make-list', version: '1.0.0', via: 'stable' }, arguments: { count: 1 } },
    ])
    expect(dry.err).toMatch(/make-list 1\.0\.0 \(stable\) would answer; call [^]*\nnothing was called; add --execute to call it\n$/)
    const again = await asBot('replay', id, '--execute')
    expect([json(again), json(await asBot('calls', idOf(again), '--json'))]).toMatchObject([things(1), { replay_of: id, dry_run: false }])
    expect((await asBot('replay', id, '--range', '^9')).code).toBe(5)
  })
})

describe('quotas', () => {
  it('limit calls, say so, are listed with why, and end when they are removed', async () => {
    const reason = ['--reason', 'no flood of lists']
    for (const wrong of [[], ['--agent', 'bot'], ['--per-day', '3'], ['--agent', 'bot', '--connection', 'x', '--per-day', '3']])
      expect((await run(['quotas', 'create', ...wrong, ...reason])).code).toBe(2)
    const made = json<{ id: string }>(
      await run(['quotas', 'create', '--agent', 'bot', '--skill', 'make-list', '--per-day', '1', ...reason, '--json']),
    )
    expect((await run(['quotas', 'list'])).out).toMatch(/bot to make-list +1 +admin +\d{4}-\d{2}-\d{2} +no flood of lists/)
    expect((await call({ count: 1 })).code).toBe(0)
    const refused = await call({ count: 1 })
    expect([refused.code, refused.err]).toEqual([
      3,
      expect.stringMatching(/used the 1 calls a day of make-list\. \(QUOTA_EXCEEDED\)\n.*at most 1 calls a day\n {2}hint: try again at /),
    ])
    expect((await asBot('self')).out).toMatch(/a day +1 of 1 calls of make-list\n/)
    expect((await run(['quotas', 'remove', made.id])).out).toBe(`quota ${made.id} is removed\n`)
    expect((await call({ count: 1 })).code).toBe(0)
    expect(await run(['quotas', 'list'])).toEqual({ code: 0, out: '', err: 'no quota is set\n' })
  })
})

describe('settle', () => {
  it('says once what became of a call whose process was killed', async () => {
    const id = idOf(await call({ count: 1, ms: 50_000 }, '--async'))
    expect((await run(['settle', id, '--happened', '--reason', 'it is under way'])).code).toBe(6)
    await registry.crash()
    await expect
      .poll(async () => json(await asBot('calls', id, '--json')), { timeout: 20_000 })
      .toMatchObject({ state: 'done', outcome: 'unknown' })
    const reason = ['--reason', 'there is no such list']
    expect((await run(['settle', id, ...reason])).code).toBe(2)
    expect((await run(['settle', id, '--happened', '--did-not-happen', ...reason])).code).toBe(2)
    expect((await asBot('settle', id, '--did-not-happen', ...reason)).code).toBe(4)
    expect(await run(['settle', id, '--did-not-happen', ...reason])).toEqual({
      code: 0,
      out: `call ${id} of make-list did not happen\n`,
      err: '',
    })
    expect(json(await asBot('calls', id, '--json'))['settled']).toMatchObject({
      happened: false,
      by: 'admin',
      reason: 'there is no such list',
    })
    expect((await run(['settle', id, '--happened', ...reason])).code).toBe(6)
  })
})
