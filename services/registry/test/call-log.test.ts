import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewCallRow } from '../src/stored.ts'
import { newRow } from './support/new-row.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let one: string
let two: string

beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'count-up' })
  await registry.release('count-up', '1.0.0')
  one = await registry.agent('one')
  two = await registry.agent('two')
  for (let index = 0; index < 5; index += 1)
    await registry.send('POST', '/v1/skills/count-up/calls', { key: one, body: { arguments: { index }, session: `s${index % 2}` } })
  await registry.send('POST', '/v1/skills/count-up/calls', { key: two, body: {} })
  await registry.send('POST', '/v1/skills/absent/calls', { key: two, body: {} })
})
afterAll(() => registry.close())

const items = async (query: string, key?: string): Promise<Record<string, unknown>[]> =>
  (await registry.send('GET', `/v1/calls${query}`, key === undefined ? {} : { key })).body.data.items

describe('GET /v1/calls', () => {
  it('200: newest first, every call exactly once, refused ones too', async () => {
    const rows = await items('')
    expect(rows).toHaveLength(7)
    expect(rows.map((row) => row['call_id'])).toEqual(
      rows
        .map((row) => String(row['call_id']))
        .sort()
        .reverse(),
    )
    expect(rows[0]).toMatchObject({ skill: 'absent', agent_id: 'two', outcome: 'not_resolved', version: null })
  })
  it('200: an agent reads its own rows and nobody else’s', async () => {
    expect((await items('', one)).every((row) => row['agent_id'] === 'one')).toBe(true)
    const foreign = (await items('?agent=two'))[0]
    const peek = await registry.send('GET', `/v1/calls/${String(foreign?.['call_id'])}`, { key: one })
    const nothing = await registry.send('GET', '/v1/calls/0192aaaa-0000-7000-8000-000000000000', { key: one })
    expect([peek.status, peek.body.error?.code, nothing.body.error?.code]).toEqual([404, 'NOT_FOUND', 'NOT_FOUND'])
  })
  it('200: each filter narrows', async () => {
    expect(await items('?skill=count-up')).toHaveLength(6)
    expect(await items('?skill=count_up')).toHaveLength(6)
    expect(await items('?agent=two')).toHaveLength(2)
    expect(await items('?outcome=not_resolved')).toHaveLength(1)
    expect(await items('?error_code=SKILL_NOT_FOUND')).toHaveLength(1)
    expect(await items('?session=s1')).toHaveLength(2)
    expect(await items('?version=1.0.0&via=stable')).toHaveLength(6)
    expect(await items('?min_duration_ms=60000')).toHaveLength(0)
  })
  it('200: pages without a gap or a repeat while new rows arrive', async () => {
    const seen: unknown[] = []
    let cursor = ''
    do {
      const page = await registry.send('GET', `/v1/calls?agent=one&limit=2${cursor}`)
      seen.push(...page.body.data.items.map((row: { call_id: string }) => row.call_id))
      cursor = page.body.data.next_cursor === null ? '' : `&cursor=${page.body.data.next_cursor}`
      await registry.send('POST', '/v1/skills/count-up/calls', { key: two, body: {} })
    } while (cursor !== '')
    expect([seen.length, new Set(seen).size]).toEqual([5, 5])
  })
  it('200: a window that lies elsewhere is empty', async () => {
    expect(await items('?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).toEqual([])
  })
  it.each([
    ['a window of more than 90 days', '?from=2026-01-01T00:00:00Z&to=2026-06-01T00:00:00Z'],
    ['a window that ends before it begins', '?from=2026-06-01T00:00:00Z&to=2026-01-01T00:00:00Z'],
    ['a time that is none', '?from=yesterday'],
    ['a cursor that is none', '?cursor=%00'],
    ['an unknown filter', '?colour=red'],
  ])('400 INVALID_REQUEST: %s', async (_, query) => {
    const reply = await registry.send('GET', `/v1/calls${query}`)
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'INVALID_REQUEST'])
  })
  it('403 ROLE_REQUIRED: an agent asks for the rows of another', async () => {
    expect((await registry.send('GET', '/v1/calls?agent=two', { key: one })).body.error?.code).toBe('ROLE_REQUIRED')
  })
})

describe('the call log', () => {
  const row = (change: Partial<NewCallRow>): NewCallRow =>
    newRow({ call_id: registry.deps.ids.next(), agent_id: 'writer', skill: 'count-up', ...change })
  const append = (change: Partial<NewCallRow>): Promise<void> => registry.deps.calls.append({ row: row(change) })
  const drained = (): Promise<unknown> => registry.deps.calls.get('0192aaaa-0000-7000-8000-000000000000')
  it('takes a thousand at once in a few batches, each exactly once', async () => {
    await Promise.all(Array.from({ length: 1000 }, (_, index) => append({ input: Buffer.from(String(index)) })))
    await drained()
    const stored =
      await registry.sql`select count(*)::int as rows, count(distinct call_id)::int as ids from calls where agent_id = 'writer'`
    expect(stored[0]).toEqual({ rows: 1000, ids: 1000 })
  })
  it('keeps bytes as they are, and text that Postgres does not take with a mark in its place', async () => {
    const odd = row({
      agent_id: 'odd',
      input: Buffer.from([0, 255, 10]),
      error_message: 'a\u0000b\ud800',
      intent: 'x\u0000',
      labels: { a: '\u0000' },
    })
    await registry.deps.calls.append({ row: odd })
    await drained()
    const stored =
      await registry.sql`select p.input, p.error_message, c.intent, c.labels from calls c join call_payloads p using (call_id) where call_id = ${odd.call_id}`
    expect([
      Array.from((stored[0]?.['input'] ?? []) as Buffer),
      stored[0]?.['error_message'],
      stored[0]?.['intent'],
      stored[0]?.['labels'],
    ]).toEqual([[0, 255, 10], 'a\uFFFDb\uFFFD', 'x\uFFFD', String.raw`{"a":"\u0000"}`])
  })
  it('keeps what would end a line or a copy, whatever stands in it', async () => {
    const texts = ['a\tb', 'a\nb\r', '\\', '\\N', '\\.', '', '"{a,b}"', '\u2028ü🙂']
    const rows = texts.map((session) => row({ agent_id: 'copied', session, input: Buffer.from(session), error_message: session }))
    await Promise.all(rows.map((each) => registry.deps.calls.append({ row: each })))
    await drained()
    const stored =
      await registry.sql`select c.session, convert_from(p.input, 'UTF8') as input, p.error_message as message from calls c join call_payloads p using (call_id) where agent_id = 'copied' order by c.call_id`
    expect(stored.map(({ session, input, message }) => [session, input, message])).toEqual(texts.map((text) => [text, text, text]))
  })
  it('keeps the rows beside one the database refuses', async () => {
    const strange = row({ agent_id: 'batch', call_id: 'no uuid at all' })
    const huge = row({ agent_id: 'batch', input_bytes: 2 ** 40 })
    await Promise.all(
      [row({ agent_id: 'batch' }), strange, huge, row({ agent_id: 'batch' })].map((each) => registry.deps.calls.append({ row: each })),
    )
    await drained()
    const kept = await registry.sql`select input_bytes from calls where agent_id = 'batch' order by call_id`
    expect(kept.map((entry) => entry['input_bytes']).sort()).toEqual([0, 0, 2 ** 31 - 1])
  })
  it('keeps the order of calls when the clock steps back, and tells none twice', async () => {
    const key = await registry.agent('timely')
    const made: string[] = []
    const callOnce = async (): Promise<void> => {
      const reply = await registry.send('POST', '/v1/skills/count-up/calls', { key, body: {} })
      made.push(String(reply.body.meta.call_id))
    }
    await callOnce()
    registry.advance(-5000)
    await callOnce()
    await callOnce()
    const pages = async (): Promise<unknown[]> => {
      const seen: unknown[] = []
      for (let cursor = ''; ;) {
        const { data } = (
          await registry.send(
            'GET',
            `/v1/calls?agent=timely&limit=1${cursor}&from=${new Date(Date.now() - 3_600_000).toISOString()}&to=${new Date(Date.now() + 60_000).toISOString()}`,
          )
        ).body
        seen.push(...data.items.map((item: { call_id: string }) => item.call_id))
        if (data.next_cursor === null) return seen
        cursor = `&cursor=${data.next_cursor}`
      }
    }
    expect(await pages()).toEqual([...made].reverse())
    // A minute back is no step of a clock that is being set right: it is followed, and what comes is told where it belongs.
    registry.advance(-60_000)
    await callOnce()
    registry.advance(65_000)
    await callOnce()
    const seen = await pages()
    expect([seen.length, new Set(seen).size, seen[0], seen.at(-1)]).toEqual([5, 5, made[4], made[3]])
  })
  it('lays rows into the partition of their day', async () => {
    const parts = await registry.sql`select distinct tableoid::regclass::text as part from calls`
    expect(parts.map((part) => part['part'])).toEqual([expect.stringMatching(/^calls_\d{8}$/)])
  })
})
