import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { foldOldRefusals } from '../src/log/partitions/fold-refusals.ts'
import { openRefusals, type OpenRefusals } from '../src/log/refusals.ts'
import { openDatabase, type Database } from '../src/store/connect.ts'
import { openApplicationLog } from '../src/start/application-log.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

type Item = { readonly at?: string; readonly agent?: string | null; readonly code?: string; readonly refusals: number }

let registry: TestRegistry
let database: Database
let auditor: string
let busy: string
const opened: OpenRefusals[] = []
const minute = Date.parse('2026-03-04T05:06:00Z')
let now = minute
/** As a replica of its own counts. */
const replica = (instance: string): OpenRefusals => {
  const { redaction } = registry.deps
  const logger = openApplicationLog({ level: 'silent', replica: 'test', redaction }, { write: () => undefined })
  const next = openRefusals({ database, instance, now: () => now, logger })
  opened.push(next)
  return next
}
const one = '01980000-0000-7000-8000-000000000001'
const two = '01980000-0000-7000-8000-000000000002'
const items = async (query: string, key = auditor): Promise<Item[]> =>
  (await registry.send('GET', `/v1/stats/refusals?${query}`, { key })).body.data.items
const then = 'from=2026-03-04T05:00:00Z&to=2026-03-04T06:00:00Z'

beforeAll(async () => {
  registry = await openTestRegistry()
  database = openDatabase(registry.databaseUrl)
  auditor = await registry.agent('watcher', { role: 'auditor' })
  busy = await registry.agent('busy')
})
afterAll(async () => {
  await Promise.all(opened.map((each) => each.stop()))
  await database.close()
  await registry.close()
})

describe('what is turned away without a row', () => {
  it('is counted by agent and code, a stranger as nobody; what was let in and refused is not', async () => {
    await registry.publish({ name: 'ask-much' })
    await registry.release('ask-much', '1.0.0')
    await registry.send('GET', '/v1/skills', { key: 'rep_agent_nobody' })
    const down = vi.spyOn(registry.deps.calls, 'isDown').mockReturnValueOnce(true).mockReturnValueOnce(true)
    for (let call = 0; call < 2; call += 1) await registry.send('POST', '/v1/skills/ask-much/calls', { key: busy, body: {} })
    down.mockRestore()
    await registry.send('POST', '/v1/skills/ask-nobody/calls', { key: busy, body: {} })
    expect(await items('')).toEqual([
      { agent: 'busy', code: 'LOG_UNAVAILABLE', refusals: 2 },
      { agent: null, code: 'UNAUTHENTICATED', refusals: 1 },
    ])
    expect(await items('group_by=code&code=UNAUTHENTICATED')).toEqual([{ code: 'UNAUTHENTICATED', refusals: 1 }])
    expect(await items('group_by=&agent=busy')).toEqual([{ refusals: 2 }])
    expect(await items('', busy)).toEqual([{ agent: 'busy', code: 'LOG_UNAVAILABLE', refusals: 2 }])
    expect((await registry.send('GET', '/v1/stats/refusals?agent=watcher', { key: busy })).body.error?.code).toBe('ROLE_REQUIRED')
    expect((await registry.send('GET', '/v1/stats/refusals?group_by=agent,agent')).body.error?.code).toBe('INVALID_REQUEST')
  })
  it('is not counted where a row says it: a call that found no place in time', async () => {
    const waiter = await registry.agent('waiter')
    await registry.publish({ name: 'one-by-one', front: 'permission: []\neffects: read\nconcurrency: 1\ntimeout_ms: 3000' })
    await registry.release('one-by-one', '1.0.0')
    let letGo: () => void = () => undefined
    const over = new Promise<void>((resolve) => (letGo = resolve))
    registry.execute(async () => {
      await over
      return { kind: 'result', json: Buffer.from('{}') }
    })
    const first = registry.send('POST', '/v1/skills/one-by-one/calls', { key: waiter, body: {} })
    await expect.poll(() => registry.executions.length).toBe(1)
    const second = await registry.send('POST', '/v1/skills/one-by-one/calls', { key: waiter, body: { timeout_ms: 300 } })
    letGo()
    await first
    expect([second.status, second.body.error?.code]).toEqual([503, 'BUSY'])
    const rows = await registry.send('GET', '/v1/calls?outcome=busy', { key: waiter })
    expect([rows.body.data.items.length, await items('', waiter)]).toEqual([1, []])
  })
  it('adds up over replicas and minutes, however often a replica says the same', async () => {
    const [first, second] = [replica(one), replica(two)]
    for (const counting of [first, first, second]) counting.note('RATE_LIMITED', 'busy')
    await first.save()
    first.note('RATE_LIMITED', 'busy')
    await Promise.all([first.save(), second.save()])
    await first.save()
    now = minute + 3 * 60_000
    first.note('RATE_LIMITED', 'busy')
    first.note('BUSY', 'other')
    first.note('INVALID_REQUEST', 'other')
    await first.save()
    expect(await items(`${then}&interval=minute`)).toEqual([
      { at: '2026-03-04T05:06:00.000Z', agent: 'busy', code: 'RATE_LIMITED', refusals: 4 },
      { at: '2026-03-04T05:09:00.000Z', agent: 'busy', code: 'RATE_LIMITED', refusals: 1 },
      { at: '2026-03-04T05:09:00.000Z', agent: 'other', code: 'BUSY', refusals: 1 },
    ])
    expect(await items(`${then}&interval=hour&group_by=`)).toEqual([{ at: '2026-03-04T05:00:00.000Z', refusals: 6 }])
    expect(await items(`from=2026-03-04T05:07:00Z&to=2026-03-04T06:00:00Z&group_by=code&limit=1`)).toEqual([{ code: 'BUSY', refusals: 1 }])
    expect(await items('from=2026-03-04T05:10:00Z&to=2026-03-04T06:00:00Z&group_by=')).toEqual([])
  })
  it('is kept while the database is away, and said when it is there again', async () => {
    now = minute + 10 * 60_000
    const counting = replica(one)
    const away = vi.spyOn(database.log.gate, 'run').mockRejectedValueOnce(new Error('away'))
    counting.note('BUSY', 'late')
    await expect(counting.save()).rejects.toThrow('away')
    away.mockRestore()
    now += 60_000
    counting.note('BUSY', 'late')
    await counting.save()
    expect(await items(`${then}&agent=late&interval=minute`)).toEqual([
      { at: '2026-03-04T05:16:00.000Z', agent: 'late', code: 'BUSY', refusals: 1 },
      { at: '2026-03-04T05:17:00.000Z', agent: 'late', code: 'BUSY', refusals: 1 },
    ])
  })
  it('is counted over whole minutes, which the answer says', async () => {
    now = Date.parse('2026-03-06T05:06:20Z')
    const counting = replica(one)
    counting.note('BUSY', 'halfway')
    await counting.save()
    const query = 'from=2026-03-06T05:06:10Z&to=2026-03-06T05:06:30Z&group_by='
    const { from, to, items: found } = (await registry.send('GET', `/v1/stats/refusals?${query}`, { key: auditor })).body.data
    expect([from, to, found]).toEqual(['2026-03-06T05:06:00.000Z', '2026-03-06T05:07:00.000Z', [{ refusals: 1 }]])
  })
  it('is there for whoever asks while what was counted before is being written', async () => {
    now = Date.parse('2026-03-07T05:06:00Z')
    const counting = replica(one)
    const { run } = database.log.gate
    let letGo: () => void = () => undefined
    const held = new Promise<void>((resolve) => (letGo = resolve))
    const slow = vi.spyOn(database.log.gate, 'run').mockImplementationOnce(async (work, ms) => {
      await held
      return run(work, ms)
    })
    counting.note('BUSY', 'meanwhile')
    const first = counting.save()
    counting.note('BUSY', 'meanwhile')
    const second = counting.save()
    letGo()
    await Promise.all([first, second])
    slow.mockRestore()
    expect(await items('from=2026-03-07T05:00:00Z&to=2026-03-07T06:00:00Z&group_by=')).toEqual([{ refusals: 2 }])
  })
  it('does not become less when a clock is set back into a minute that was written', async () => {
    const counting = replica(one)
    for (const at of ['05:06:30', '05:06:40', '05:07:00', '05:06:50']) {
      now = Date.parse(`2026-03-08T${at}Z`)
      counting.note('BUSY', 'back')
      await counting.save()
    }
    expect(await items('from=2026-03-08T05:00:00Z&to=2026-03-08T06:00:00Z&group_by=')).toEqual([{ refusals: 4 }])
  })
  it('is written after an outage of hours, however long that takes', async () => {
    const start = Date.parse('2026-03-09T00:00:00Z')
    const counting = replica(one)
    for (let minute = 0; minute < 200; minute += 1) {
      now = start + minute * 60_000
      for (let agent = 0; agent < 500; agent += 1) counting.note('BUSY', `agent-${agent}`)
    }
    const { run } = database.log.gate
    const hurried = vi.spyOn(database.log.gate, 'run').mockImplementation((work) => run(work, 500))
    await counting.save()
    hurried.mockRestore()
    expect(await items('from=2026-03-09T00:00:00Z&to=2026-03-10T00:00:00Z&group_by=')).toEqual([{ refusals: 100_000 }])
  })
  it('tells so many agents apart in a minute, and counts the others together', async () => {
    now = Date.parse('2026-03-05T05:06:00Z')
    const counting = replica(one)
    for (let agent = 0; agent < 600; agent += 1) counting.note('RATE_LIMITED', `agent-${agent}`)
    await counting.save()
    const found = await items('from=2026-03-05T05:00:00Z&to=2026-03-05T06:00:00Z')
    expect([found.length, found[0]]).toEqual([501, { agent: null, code: 'RATE_LIMITED', refusals: 100 }])
  })
  it('is kept by the hour once it is some days old, and nothing of it counts twice', async () => {
    const whole = 'from=2026-03-04T00:00:00Z&to=2026-03-06T00:00:00Z&interval=hour'
    const [before, recent] = [await items(whole), await items('')]
    const rows = async (): Promise<number> => (await registry.sql`select 1 from refusal_minutes where minute < '2026-03-06'`).length
    const many = await rows()
    await foldOldRefusals(registry.sql)
    const few = await rows()
    await foldOldRefusals(registry.sql)
    expect([await items(whole), await items(''), few < many, await rows()]).toEqual([before, recent, true, few])
    expect(before.length).toBeGreaterThan(3)
  })
})
