import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let proxy: TcpProxy
let registry: TestRegistry
let key: string
let count = 0

/** What is promised, in milliseconds; asserted at four times as much, since the machine may be anybody's. */
const answeredMs = 2000
const healedMs = 2000
const slack = 4

beforeAll(async () => {
  proxy = await openTcpProxy(inject('postgresUrl'))
  registry = await openTestRegistry({}, proxy.through)
  for (const [name, front] of [
    ['plain-one', 'permission: []\neffects: read'],
    ['once-one', 'permission: []\neffects: once'],
    ['single-one', 'permission: []\neffects: read\nconcurrency: 1\ntimeout_ms: 1500'],
  ] as const) {
    await registry.publish({ name, front })
    await registry.release(name, '1.0.0')
  }
  key = await registry.agent('caller')
  registry.execute(() => ({ kind: 'result', json: Buffer.from('{}') }))
})
afterAll(async () => {
  await proxy.mend()
  await registry.close()
  proxy.close()
})

const call = (name: string, headers: Record<string, string> = {}): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${name}/calls`, { key, body: {}, headers })
/** One request of every kind that asks the database, and those that must not need it. */
const everything = (): Record<string, () => Promise<Reply>> => {
  count += 1
  const id = '0192aaaa-0000-7000-8000-000000000000'
  return {
    list: () => registry.send('GET', '/v1/skills', { key }),
    resolve: () => registry.send('POST', '/v1/resolve', { key, body: { requires: { 'plain-one': '*' } } }),
    call: () => call('plain-one'),
    'call that happens once': () => call('once-one'),
    'keyed call': () => call('plain-one', { 'idempotency-key': `r${count}` }),
    'keyed call that happens once': () => call('once-one', { 'idempotency-key': `o${count}` }),
    'call in a place': () => call('single-one'),
    'call in the background': () => call('plain-one', { prefer: 'respond-async' }),
    'call log': () => registry.send('GET', '/v1/calls'),
    'one call': () => registry.send('GET', `/v1/calls/${id}`),
    'a result': () => registry.send('GET', `/v1/calls/${id}/result`, { key }),
    'a cancellation': () => registry.send('POST', `/v1/calls/${id}/cancel`, { key, body: {} }),
    rollback: () =>
      registry.send('POST', `/v1/rollouts/${id}/rollback`, { headers: { 'if-match': '*' }, body: { reason: 'a test tries it' } }),
    'new agent': () => registry.send('POST', '/v1/agents', { body: { id: `new-${count}`, name: 'x' } }),
    agents: () => registry.send('GET', '/v1/agents'),
    audit: () => registry.send('GET', '/v1/audit'),
    ready: () => registry.send('GET', '/readyz', { key: null }),
  }
}
/** Asks everything at once, some rounds long; how long the slowest took, and what was answered. */
const askAll = async (
  rounds: number,
): Promise<{ readonly slowestMs: number; readonly slowest: string; readonly statuses: ReadonlyMap<string, ReadonlySet<number>> }> => {
  let slowestMs = 0
  let slowest = ''
  const statuses = new Map<string, Set<number>>()
  for (let round = 0; round < rounds; round += 1)
    await Promise.all(
      Object.entries(everything()).map(async ([what, ask]) => {
        const began = performance.now()
        const { status } = await ask()
        if (performance.now() - began > slowestMs) {
          slowestMs = performance.now() - began
          slowest = what
        }
        statuses.set(what, (statuses.get(what) ?? new Set()).add(status))
      }),
    )
  return { slowestMs, slowest, statuses }
}
/** How long it takes until a change and a question to the log go through again. */
const healing = async (): Promise<number> => {
  const began = performance.now()
  const goesThrough = async (): Promise<boolean> => {
    count += 1
    const [made, asked, rollback] = await Promise.all([
      registry.send('POST', '/v1/agents', { body: { id: `healed-${count}`, name: 'x' } }),
      registry.send('GET', '/v1/calls?limit=1'),
      everything()['rollback']?.(),
    ])
    return made.status === 201 && asked.status === 200 && rollback?.status === 404
  }
  while (!(await goesThrough())) if (performance.now() - began > 30_000) throw new Error('it did not heal within 30 s')
  return performance.now() - began
}
const faults: readonly (readonly [string, () => void | Promise<void>])[] = [
  ['swallows what lies on the lines there are', () => proxy.swallow()],
  ['lets nothing through at all', () => proxy.blackhole()],
  ['is cut', () => proxy.cut()],
  ['closes one direction', () => proxy.halfClose()],
  ['resets every line, again and again', () => proxy.reset()],
  ['is slow', () => proxy.delay(60)],
]

describe('every request is answered, whatever the line to the database does', () => {
  it.each(faults)(
    'when it %s',
    async (what, spoil) => {
      await spoil()
      const again = what.startsWith('resets') ? setInterval(() => proxy.reset(), 150) : undefined
      const { slowestMs, slowest, statuses } = await askAll(2)
      clearInterval(again)
      await proxy.mend()
      const healMs = await healing()
      console.log(
        `when the line ${what}: slowest answer ${Math.round(slowestMs)} ms (${slowest}), healed ${Math.round(healMs)} ms after it was mended`,
      )
      expect([slowestMs < answeredMs * slack, healMs < healedMs * slack]).toEqual([true, true])
      for (const free of ['list', 'resolve', 'call', 'call that happens once', 'ready'])
        expect([free, statuses.get(free)]).toEqual([free, new Set([200])])
      const allowed = new Set([200, 201, 202, 404, 503])
      expect(
        [...statuses].flatMap(([asked, found]) =>
          [...found].filter((status) => !allowed.has(status)).map((status) => `${asked} ${status}`),
        ),
      ).toEqual([])
      expect(registry.bugs.splice(0)).toEqual([])
    },
    120_000,
  )
  it('when every connection is taken: refused within 300 ms, while health, calls and stepping back go on', async () => {
    const holding = registry.sql.begin(async (tx) => {
      // Whoever adds an event to the audit log waits behind this one.
      await tx`lock table audit_events in access exclusive mode`
      await pause(1500)
    })
    await pause(100)
    const crowd = Array.from({ length: 300 }, () => registry.send('GET', '/v1/audit'))
    const began = performance.now()
    const refused = await Promise.all(
      Array.from({ length: 40 }, async () => {
        const asked = performance.now()
        const reply = await registry.send('GET', '/v1/agents')
        return { status: reply.status, code: reply.body.error?.code, ms: performance.now() - asked }
      }),
    )
    const slowest = Math.max(...refused.map(({ ms }) => ms))
    console.log(
      `with every connection taken, ${refused.filter(({ code }) => code === 'BUSY').length} of 40 were refused, the last after ${Math.round(slowest)} ms`,
    )
    expect([new Set(refused.map(({ code }) => code)), slowest < 300 * slack]).toEqual([new Set(['BUSY']), true])
    const [health, called, rollback] = await Promise.all([
      registry.send('GET', '/healthz', { key: null }),
      call('plain-one'),
      everything()['rollback']?.(),
    ])
    expect([health.status, called.status, rollback?.status, performance.now() - began < answeredMs * slack]).toEqual([200, 200, 404, true])
    await Promise.all([holding, ...crowd])
  })
})
