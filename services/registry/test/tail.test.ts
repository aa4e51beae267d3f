import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeEntries } from '../src/log/write-entries.ts'
import type { NewCallRow } from '../src/stored.ts'
import { newRow } from './support/new-row.ts'
import type { Data } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let isStopping = false
beforeAll(async () => {
  registry = await openTestRegistry({ health: { degraded: () => [], staleMs: () => undefined, isStopping: () => isStopping } })
})
afterAll(() => registry.close())

type Event = { readonly id: number; readonly event: string; readonly data: Data }
/** A stream that somebody listens to: what it said, and how it goes away. */
type Listening = {
  readonly events: Event[]
  /** Everything that is no event: comments, with the places they carry. */
  readonly comments: string[]
  readonly isOver: () => boolean
  readonly leave: () => Promise<void>
  readonly read: () => Promise<void>
}

/** Opens a stream; one that reads by itself takes in everything, one that does not waits for `read`. */
async function listen(
  query: string,
  { key, last, reads = true }: { key?: string; last?: number; reads?: boolean } = {},
): Promise<Listening> {
  const response = await registry.open('GET', `/v1/calls/tail${query}`, {
    ...(key === undefined ? {} : { key }),
    ...(last === undefined ? {} : { headers: { 'last-event-id': String(last) } }),
  })
  if (response.status !== 200) throw new Error(await response.text())
  const reader = response.body?.getReader()
  const events: Event[] = []
  const comments: string[] = []
  let [text, isOver] = ['', false]
  const read = async (): Promise<void> => {
    for (;;) {
      const chunk = await reader?.read()
      if (chunk?.value === undefined) break
      text += Buffer.from(chunk.value).toString('utf8')
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const of = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
        if (of('event') !== undefined) events.push({ id: Number(of('id')), event: of('event') ?? '', data: JSON.parse(of('data') ?? '') })
        else comments.push(part)
      }
    }
    isOver = true
  }
  if (reads) void read()
  return { events, comments, isOver: () => isOver, leave: async () => void (await reader?.cancel()), read }
}
const until = async (holds: () => boolean, ms = 4000): Promise<boolean> => {
  for (const end = performance.now() + ms; performance.now() < end; await pause(10)) if (holds()) return true
  return holds()
}
const row = (change: Partial<NewCallRow> = {}): NewCallRow =>
  newRow({ call_id: registry.deps.ids.next(), agent_id: 'writer', skill: 'told', ...change })
const write = (rows: readonly NewCallRow[]): Promise<void> =>
  writeEntries(
    registry.sql,
    rows.map((one) => ({ row: one })),
    registry.deps.snapshot().installId,
  )
const idsOf = ({ events }: Listening): string[] => events.filter(({ event }) => event === 'call').map(({ data }) => data.call_id)

describe('GET /v1/calls/tail', () => {
  it('tells of rows as they are written, of those that were asked for', async () => {
    const [all, slow] = [await listen(''), await listen('?min_duration_ms=500&outcome=timeout&q=needle')]
    const rows = [row(), row({ total_ms: 900, outcome: 'timeout', input: Buffer.from('{"a":"A Needle"}') }), row({ total_ms: 900 })]
    await write(rows)
    expect(await until(() => idsOf(all).length === 3)).toBe(true)
    expect([idsOf(all), idsOf(slow)]).toEqual([rows.map((one) => one.call_id), [rows[1]?.call_id]])
    expect(all.events.map(({ id }) => id)).toEqual(all.events.map(({ id }) => id).sort((a, b) => a - b))
    await Promise.all([all.leave(), slow.leave()])
    expect(registry.deps.tailPlaces.taken()).toBe(0)
  })
  it('has no gap and no duplicate over many connections, while several write', async () => {
    const first = await listen('?skill=many')
    const written: string[] = []
    let isWriting = true
    const writers = Array.from({ length: 3 }, async () => {
      for (let batch = 0; batch < 25; batch += 1) {
        const rows = Array.from({ length: 1 + (batch % 30) }, () => row({ skill: 'many', input: Buffer.from(`{"batch":${batch}}`) }))
        written.push(...rows.map((one) => one.call_id))
        await write(rows)
        await pause(batch % 7)
      }
    })
    const done = Promise.all(writers).then(() => (isWriting = false))
    const seen: Event[] = []
    let connections = 0
    for (let listening = first; ; listening = await listen('?skill=many', { last: seen.at(-1)?.id ?? 0 })) {
      connections += 1
      const isLast = !isWriting
      await until(
        () => (isLast ? seen.length + listening.events.length >= written.length : listening.events.length > connections * 5),
        3000,
      )
      await listening.leave()
      seen.push(...listening.events)
      if (isLast) break
    }
    await done
    const order = await registry.sql`select call_id from calls where skill = 'many' order by seq`
    console.log(`${written.length} rows over ${connections} connections`)
    expect([connections > 3, seen.map(({ data }) => data.call_id)]).toEqual([true, order.map((one) => one['call_id'])])
  })
  it('lets nobody join behind what others have heard: the rows between would be missing', async () => {
    const { tail } = registry.deps
    const place = await tail.position()
    const inbox = tail.join(place)
    await write([row()])
    while ((await inbox?.next())?.rows.length === 0);
    expect([tail.join(place), tail.join(await tail.position()) !== undefined, (await tail.position()) > place]).toEqual([
      undefined,
      true,
      true,
    ])
    inbox?.leave()
  })
  it('begins now, and not where those who listen already have come to', async () => {
    const standing = await listen('')
    for (let round = 0; round < 4; round += 1) {
      await write([row()])
      const stream = await listen('')
      const next = row()
      await write([next])
      expect(await until(() => idsOf(stream).length > 0)).toBe(true)
      expect(idsOf(stream)).toEqual([next.call_id])
      await stream.leave()
    }
    await standing.leave()
  })
  it('tells an agent of its own calls, and an auditor of payloads only with payload:read, noted once', async () => {
    const [agent, auditor] = [await registry.agent('listener'), await registry.agent('auditor', { role: 'auditor' })]
    const reader = await registry.agent('reader', { role: 'auditor', grants: ['payload:read'] })
    const streams = [await listen('', { key: agent }), await listen('', { key: auditor }), await listen('', { key: reader })]
    const [own, other] = [row({ agent_id: 'listener', input: Buffer.from('{"a":1}') }), row({ input: Buffer.from('{"b":1}') })]
    await write([own, other])
    expect(await until(() => streams.every((stream, index) => idsOf(stream).length === (index === 0 ? 1 : 2)))).toBe(true)
    expect(streams.map((stream) => stream.events.map(({ data }) => [data.input, data.payload_withheld]))).toEqual([
      [[{ a: 1 }, false]],
      [
        [null, true],
        [null, true],
      ],
      [
        [{ a: 1 }, false],
        [{ b: 1 }, false],
      ],
    ])
    const noted = await registry.sql`select caller, action, subject from audit_events where action = 'payload.read'`
    expect(noted.map((event) => ({ ...event }))).toEqual([{ caller: 'reader', action: 'payload.read', subject: 'tail' }])
    await Promise.all(streams.map((stream) => stream.leave()))
  })
  it.each([
    ['the key is revoked', async (id: string) => registry.sql`update agent_keys set revoked_at = now() where agent_id = ${id}`, true],
    ['the agent is disabled', (id: string) => registry.send('PATCH', `/v1/agents/${id}`, { body: { disabled: true } }), false],
    [
      'the tag for payloads is given',
      (id: string) => registry.send('POST', `/v1/agents/${id}/grants`, { body: { pattern: 'payload:read', reason: 'a test grants it' } }),
      false,
    ],
  ])('ends within a second once %s', async (what, change, isKey) => {
    const id = `gone-${what.replaceAll(' ', '-')}`
    const key = await registry.agent(id, { role: 'auditor' })
    const stream = await listen('', { key })
    await write([row()])
    expect(await until(() => idsOf(stream).length === 1)).toBe(true)
    if (isKey) {
      const [found] = await registry.sql`select id from agent_keys where agent_id = ${id}`
      await registry.send('DELETE', `/v1/agents/${id}/keys/${found?.['id']}`)
    } else await change(id)
    const started = performance.now()
    expect(await until(() => stream.isOver(), 1000)).toBe(true)
    await write([row()])
    console.log(`${what}: the stream ended after ${Math.round(performance.now() - started)} ms`)
    expect([stream.events.at(-1)?.data.reason, idsOf(stream).length]).toEqual(['rights_changed', 1])
  })
  it('ends for a reader that reads nothing, with a word of it and the place to go on from', async () => {
    const [quiet, stream] = [await listen('?skill=absent'), await listen('?skill=heavy', { reads: false })]
    const rows = Array.from({ length: 30 }, () => row({ skill: 'heavy', input: Buffer.from(JSON.stringify('x'.repeat(9000))) }))
    await write(rows)
    expect(await until(() => registry.deps.tailPlaces.taken() === 1, 14_000)).toBe(true)
    await stream.read()
    expect([stream.events.at(-1)?.data.reason, idsOf(stream).length < 30]).toEqual(['slow_reader', true])
    const rest = await listen('?skill=heavy', { last: stream.events.at(-1)?.id ?? 0 })
    expect(await until(() => idsOf(rest).length + idsOf(stream).length === 30)).toBe(true)
    expect([...idsOf(stream), ...idsOf(rest)]).toEqual(rows.map((one) => one.call_id))
    await rest.leave()
    // Who hears nothing hears that, and up to where nothing was missed.
    expect(await until(() => quiet.comments.length === 2, 8000)).toBe(true)
    const [last] = await registry.sql`select max(seq)::int as seq from calls`
    expect(quiet.comments[1]).toBe(`: still here\nid: ${last?.['seq']}`)
    await quiet.leave()
  }, 40_000)
  it('asks the database once for all who listen', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => listen('?skill=absent')))
    const count = async (): Promise<number> => {
      const [stat] = await registry.sql`select xact_commit::int as commits from pg_stat_database where datname = current_database()`
      return stat?.['commits'] as number
    }
    await pause(1500)
    const before = await count()
    await pause(3000)
    const asked = (await count()) - before
    await Promise.all(streams.map((stream) => stream.leave()))
    console.log(`${asked} transactions in 3 s with eight streams`)
    // Each for itself they would ask sixty times; what else the replica asks is a handful.
    expect(asked).toBeLessThan(45)
  })
  it('ends when the replica stops', async () => {
    const stream = await listen('')
    isStopping = true
    expect(await until(() => stream.isOver(), 2000)).toBe(true)
    isStopping = false
    expect(stream.events.at(-1)?.data.reason).toBe('stopping')
  })
  it('400 INVALID_REQUEST: a Last-Event-ID that is none, an unknown filter', async () => {
    for (const [path, headers] of [
      ['', { 'last-event-id': 'x' }],
      ['?colour=red', {}],
      ['?after=-1', {}],
    ] as const)
      expect((await registry.send('GET', `/v1/calls/tail${path}`, { headers })).body.error?.code).toBe('INVALID_REQUEST')
  })
  it('403 ROLE_REQUIRED: the calls of another agent', async () => {
    const key = await registry.agent('curious')
    expect((await registry.send('GET', '/v1/calls/tail?agent=writer', { key })).body.error?.code).toBe('ROLE_REQUIRED')
  })
  it('503 BUSY: more streams than one caller may have, until one goes away', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => listen('')))
    expect((await registry.send('GET', '/v1/calls/tail')).body.error?.code).toBe('BUSY')
    await streams[0]?.leave()
    streams[0] = await listen('')
    await Promise.all(streams.map((stream) => stream.leave()))
    expect(registry.deps.tailPlaces.taken()).toBe(0)
  })
})
