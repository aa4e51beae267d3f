import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { foldShown } from '../src/log/counts/count-shown.ts'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import { at, rowAt, writeRows } from './support/written-rows.ts'

let registry: TestRegistry
let [agent, owner, stranger, auditor] = ['', '', '', '']
const lookUp = (hoursAgo: number, change: object): ReturnType<typeof rowAt> =>
  rowAt(hoursAgo, { skill: 'look-up', version: '1.0.0', ...change })
const ask = async (path: string, key?: string): Promise<Reply> =>
  registry.send('GET', `/v1/stats/${path}`, key === undefined ? {} : { key })
const data = async (path: string, key?: string): Promise<Data> => {
  const reply = await ask(path, key)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.body.data
}
const code = async (path: string, key?: string): Promise<unknown> => (await ask(path, key)).body.error?.code

// A tail as upstreams have it: most are quick, some take a thousand times as long.
const skewed = Array.from(
  { length: 2000 },
  (_, index) => 2 * (1 + ((index * 7919) % 2000) / 2000 / (1.0005 - ((index * 104_729) % 2000) / 2000)),
)

beforeAll(async () => {
  registry = await openTestRegistry()
  agent = await registry.agent('worker')
  owner = await registry.agent('owner', { role: 'publisher', team: 'shop' })
  stranger = await registry.agent('stranger', { role: 'publisher', team: 'others' })
  auditor = await registry.agent('auditor', { role: 'auditor' })
  for (const version of ['1.0.0', '1.1.0']) {
    const files = {
      'SKILL.md': `---\nname: look-up\nversion: ${version}\ndescription: Looks up.\npermission: []\neffects: read\n---\nx\n`,
    }
    await registry.send('POST', '/v1/skills', { key: owner, body: { files } })
  }
  await registry.release('look-up', '1.0.0')
  await writeRows(registry, [
    ...skewed.map((ms, index) =>
      lookUp(4.5 + (index % 19), { agent_id: `a${index % 50}`, total_ms: ms, attempts: index % 10 === 0 ? 2 : 1 }),
    ),
    ...Array.from({ length: 40 }, (_, index) =>
      lookUp(30, { agent_id: 'worker', version: '1.1.0', outcome: 'timeout', error_code: 'TIMEOUT', attempts: 3, total_ms: index }),
    ),
    ...Array.from({ length: 12 }, () =>
      lookUp(0.2, { agent_id: 'worker', outcome: 'denied', error_code: 'PERMISSION_DENIED', version: null }),
    ),
    ...Array.from({ length: 3 }, () =>
      lookUp(1.5, { agent_id: 'a1', outcome: 'invalid_input', error_code: 'INVALID_INPUT', violations: [{ path: '/id', rule: 'type' }] }),
    ),
    lookUp(2, { agent_id: 'a1', dry_run: true }),
  ])
})
afterAll(() => registry.close())

describe('GET /v1/stats/calls', () => {
  it('200: percentiles are within five percent of the exact ones, also over skewed durations', async () => {
    const sorted = [...skewed].sort((a, b) => a - b)
    const exact = (part: number): number => sorted[Math.ceil(sorted.length * part) - 1] ?? 0
    const { items } = await data(`calls?from=${at(40)}&outcome=ok`)
    for (const [part, found] of [
      [0.5, items[0].p50_ms],
      [0.95, items[0].p95_ms],
      [0.99, items[0].p99_ms],
    ] as const)
      expect(Math.abs(found - exact(part)) / exact(part)).toBeLessThanOrEqual(0.05)
    expect(Math.max(...skewed) / exact(0.5)).toBeGreaterThan(100)
  })
  it('200: rows, hours and days say the same of the same calls', async () => {
    const sums = []
    for (const query of [
      `from=${at(24)}&skill=look-up&interval=minute`,
      `from=${at(24)}&interval=hour`,
      `from=${at(24)}`,
      `from=${at(24)}&to=${at(-1)}&interval=day&outcome=ok`,
    ]) {
      const { items, source } = await data(`calls?${query}${query.includes('outcome') ? '' : '&outcome=ok'}`)
      sums.push([source, items.reduce((sum: number, item: Data) => sum + item.calls, 0)])
    }
    expect(sums).toEqual([
      ['rows', 2000],
      ['hours', 2000],
      ['hours', 2000],
      ['days', 2000],
    ])
  })
  it('200: dry runs do not count, refusals are errors and no failures', async () => {
    const { items } = await data(`calls?from=${at(40)}&group_by=agent&agent=worker`)
    expect(items).toEqual([
      expect.objectContaining({ agent: 'worker', calls: 52, errors: 52, failures: 40, failure_rate: 1, error_rate: 1 }),
    ])
    const { items: ofA1 } = await data(`calls?from=${at(3)}&agent=a1`)
    expect(ofA1.map((item: Data) => item.calls)).toEqual([3])
  })
  it('200: every dimension groups, a name is found under both spellings, and cut lists say so', async () => {
    for (const dimension of ['skill', 'version', 'agent', 'arm', 'outcome', 'error_code']) {
      const { items } = await data(`calls?from=${at(40)}&group_by=${dimension}`)
      expect([dimension, items.reduce((sum: number, item: Data) => sum + item.calls, 0)]).toEqual([dimension, 2055])
    }
    expect((await data(`calls?from=${at(40)}&skill=look_up`)).items[0].calls).toBe(2055)
    const cut = await data(`calls?from=${at(40)}&group_by=agent&limit=3`)
    expect([cut.items.length, cut.cut]).toEqual([3, true])
    expect((await data(`calls?from=${at(0.5)}&group_by=version`)).items).toEqual([expect.objectContaining({ version: null, calls: 12 })])
  })
  it('200: an agent counts its own calls, an owner those of its skill without their agents', async () => {
    expect((await data(`calls?from=${at(40)}`, agent)).items[0].calls).toBe(52)
    expect((await data(`calls?from=${at(40)}&skill=look-up&group_by=version`, owner)).items.map((item: Data) => item.calls)).toEqual([
      2003, 40, 12,
    ])
    expect((await data(`calls?from=${at(40)}&skill=look-up&group_by=agent`, owner)).items).toEqual([])
    expect((await data(`calls?from=${at(40)}&skill=look-up`, stranger)).items).toEqual([])
    expect((await data(`calls?from=${at(40)}`, auditor)).items[0].calls).toBe(2055)
  })
  it.each([
    ['an unknown dimension', `calls?group_by=colour`],
    ['a dimension twice', `calls?group_by=skill,skill`],
    ['too many dimensions', `calls?group_by=skill,version,agent,outcome`],
    ['minutes of days', `calls?from=${at(48)}&interval=minute`],
    ['hours of months', `calls?from=${at(24 * 60)}&interval=hour`],
    ['arms of an agent over days', `calls?from=${at(48)}&agent=worker&group_by=arm`],
    ['a window of more than 90 days', `calls?from=${at(24 * 91)}`],
  ])('400 INVALID_REQUEST: %s', async (_, path) => {
    expect(await code(path)).toBe('INVALID_REQUEST')
  })
  it('403 ROLE_REQUIRED: calls of another agent', async () => {
    expect(await code('calls?agent=a1', agent)).toBe('ROLE_REQUIRED')
    expect(await code('calls?agent=a1&skill=look-up', owner)).toBe('ROLE_REQUIRED')
  })
})

describe('what is measured of a version', () => {
  it('stands in its description, a minute later, for who may see it', async () => {
    await registry.counts.refreshMeasured()
    const { body } = await registry.send('GET', '/v1/skills/look-up?range=1.0.0', { key: agent })
    expect(body.data.measured).toEqual({
      window: '7d',
      calls: 2003,
      p50_ms: expect.any(Number),
      p95_ms: expect.any(Number),
      result_bytes: 0,
      error_rate: 3 / 2003,
    })
    expect(body.data.measured.p95_ms).toBeGreaterThan(body.data.measured.p50_ms)
    // To be refused takes no time, and says nothing of how long it takes.
    const refused = Array.from({ length: 50 }, () =>
      rowAt(1, { skill: 'rarely-let-in', version: '1.0.0', outcome: 'invalid_input', total_ms: 0.2 }),
    )
    const carriedOut = Array.from({ length: 5 }, () => rowAt(1, { skill: 'rarely-let-in', version: '1.0.0', total_ms: 4000 }))
    await writeRows(registry, [...refused, ...carriedOut])
    await registry.deps.counts.calls({
      source: 'call_days',
      window: { from: new Date(0), to: new Date() },
      interval: 'none',
      groupBy: [],
      filters: {},
      limit: 1,
    })
    await registry.counts.refreshMeasured()
    const rarely = registry.deps.counts.measured('rarely-let-in', '1.0.0')
    expect([rarely?.calls, (rarely?.p50Ms ?? 0) > 3500, rarely?.failureRate]).toEqual([55, true, 50 / 55])
    await registry.publish({ name: 'never-called' })
    await registry.release('never-called', '1.0.0')
    expect((await registry.send('GET', '/v1/skills/never-called')).body.data.measured).toBeNull()
  })
})

describe('what is refused at the door', () => {
  it('makes no row, and is counted by its code', async () => {
    const before = registry.deps.refusals.byCode().get('UNAUTHENTICATED') ?? 0
    await registry.send('GET', '/v1/calls', { key: 'rep_agent_nobody' })
    await registry.send('GET', '/v1/calls?colour=red')
    expect(registry.deps.refusals.byCode().get('UNAUTHENTICATED')).toBe(before + 1)
    expect(registry.deps.refusals.byCode().get('INVALID_REQUEST')).toBeGreaterThan(0)
  })
  it('is counted also where a call is refused behind it, with a row or without one', async () => {
    await registry.publish({ name: 'refuse-me' })
    await registry.release('refuse-me', '1.0.0')
    const down = vi.spyOn(registry.deps.calls, 'isDown').mockReturnValueOnce(true)
    const replies = [
      await registry.send('POST', '/v1/skills/refuse-me/calls', { body: {} }),
      await registry.send('POST', '/v1/skills/refuse-nobody/calls', { body: {} }),
    ]
    down.mockRestore()
    expect(replies.map((reply) => reply.body.error?.code)).toEqual(['LOG_UNAVAILABLE', 'SKILL_NOT_FOUND'])
    const counts = registry.deps.refusals.byCode()
    expect([counts.get('LOG_UNAVAILABLE'), counts.get('SKILL_NOT_FOUND')]).toEqual([1, 1])
  })
})

describe('lists of what was counted', () => {
  it('errors: the most frequent first, an agent its own', async () => {
    const { items } = await data(`errors?from=${at(40)}&skill=look-up`)
    expect(items).toEqual([
      { error_code: 'TIMEOUT', outcome: 'timeout', skill: 'look-up', calls: 40 },
      { error_code: 'PERMISSION_DENIED', outcome: 'denied', skill: 'look-up', calls: 12 },
      { error_code: 'INVALID_INPUT', outcome: 'invalid_input', skill: 'look-up', calls: 3 },
    ])
    expect((await data(`errors?from=${at(40)}`, agent)).items.map((item: Data) => item.error_code)).toEqual([
      'TIMEOUT',
      'PERMISSION_DENIED',
    ])
  })
  it('denials: who was denied what', async () => {
    expect((await data(`denials?from=${at(40)}`)).items).toEqual([{ agent: 'worker', skill: 'look-up', calls: 12 }])
    expect((await data('denials?skill=look-up', owner)).items).toEqual([])
  })
  it('violations: places by version, for those who see everything and for owners', async () => {
    const place = { skill: 'look-up', version: '1.0.0', side: 'input', path: '/id', rule: 'type', calls: 3 }
    expect((await data('violations')).items).toEqual([place])
    expect((await data('violations?skill=look-up', owner)).items).toEqual([place])
    expect([await code('violations?skill=look-up', stranger), await code('violations', owner), await code('violations', agent)]).toEqual([
      'ROLE_REQUIRED',
      'ROLE_REQUIRED',
      'ROLE_REQUIRED',
    ])
  })
  it('attempts: what was tried again, and what recovered', async () => {
    const { items } = await data(`attempts?from=${at(40)}&skill=look-up`)
    expect(items.slice(0, 2)).toEqual([
      { skill: 'look-up', version: '1.0.0', calls: 2003, attempts: 2200, retried: 200, recovered: 200 },
      { skill: 'look-up', version: '1.1.0', calls: 40, attempts: 120, retried: 40, recovered: 0 },
    ])
  })
  it('unused: what was shown and never called; searches: what was looked for and not found', async () => {
    await registry.sql`insert into shown_events (event_id, ts, replica, kind, agent_id, revision, query, items, item_count)
      select repertoire_first_id(t), t, 'r', kind, agent, 1, query, items, n from (values
        (now() - interval '3 hours', 'list', 'a1', '', 'look-up@1.0.0 dusty@1.0.0', 2), (now() - interval '2 hours', 'list', 'a2', '', 'look-up@1.0.0 dusty@1.0.0', 2),
        (now() - interval '100 minutes', 'load', 'a2', 'dusty', 'dusty@1.0.0', 1), (now() - interval '80 minutes', 'search', 'a1', 'refund money', '', 0),
        (now() - interval '70 minutes', 'search', 'a2', 'refund money', '', 0), (now() - interval '60 minutes', 'search', 'a2', 'look', 'look-up@1.0.0', 1)) as shown (t, kind, agent, query, items, n)`
    const unused = await data(`unused?from=${at(24)}`)
    expect(unused.items).toEqual([{ skill: 'dusty', listed: 2, loaded: 1, agents: 2, last_shown_at: expect.stringMatching(/T00:00:00/) }])
    expect(await foldShown(registry.sql)).toBe(0)
    expect((await data('unused', auditor)).items[0].listed).toBe(2)
    expect((await data('searches')).items).toEqual([expect.objectContaining({ query: 'refund money', searches: 2, agents: 2 })])
    expect([await code('unused', owner), await code('searches', agent)]).toEqual(['ROLE_REQUIRED', 'ROLE_REQUIRED'])
  })
})
