import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBreaker } from '../src/executors/breaker.ts'
import { createRetryBudget } from '../src/executors/retry-budget.ts'
import { createAdmission } from '../src/http/admission.ts'
import type { Execution, ExecutorResult } from '../src/ports.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
const ok: ExecutorResult = { kind: 'result', json: Buffer.from('{}') }
const failed = (reason: string, change: Partial<Extract<ExecutorResult, { kind: 'failed' }>> = {}): ExecutorResult => ({
  kind: 'failed',
  code: 'EXECUTOR_FAILED',
  reason,
  message: 'It failed.',
  details: [],
  ...change,
})
const call = (skill: string, body: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${skill}/calls`, { key, body, headers })
const rowOf = async (reply: Reply): Promise<Record<string, unknown>> =>
  (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data
const skill = async (name: string, front: string): Promise<void> => {
  await registry.publish({ name, front: `permission: []\n${front}` })
  await registry.release(name, '1.0.0')
}
/** Fails so often, then goes well. */
const failingFirst = (times: number, how: ExecutorResult): void => {
  let left = times
  registry.execute(() => ((left -= 1) >= 0 ? how : ok))
}

beforeAll(async () => {
  registry = await openTestRegistry()
  await skill('read-it', 'effects: read\ntimeout_ms: 3000')
  await skill('do-once', 'effects: once\ntimeout_ms: 3000')
  key = await registry.agent('caller')
})
afterAll(() => registry.close())
beforeEach(() => void (registry.executions.length = 0))

describe('a failure of a moment', () => {
  const passing: readonly (readonly [string, ExecutorResult])[] = [
    ['status 503', failed('upstream_status', { isTransient: true })],
    ['no connection', failed('network', { code: 'EXECUTOR_UNREACHABLE' })],
    ['a broken connection', failed('connection_lost')],
  ]
  it.each(passing)('%s is tried again, twice at most, and the row says how often', async (what, how) => {
    // A skill of its own has its whole budget.
    const name = `read-${what.replaceAll(/[^a-z0-9]/g, '')}`
    await skill(name, 'effects: read\ntimeout_ms: 3000')
    failingFirst(2, how)
    const reply = await call(name)
    expect([reply.status, registry.executions.length, (await rowOf(reply))['attempts']]).toEqual([200, 3, 3])
    registry.executions.length = 0
    failingFirst(9, how)
    const lost = await call(name)
    expect([lost.status, registry.executions.length, (await rowOf(lost))['attempts']]).toEqual([502, 3, 3])
  })
  it('is not tried again where it may have had an effect, where the skill is at fault, nor past the deadline', async () => {
    failingFirst(1, failed('connection_lost'))
    expect([(await call('do-once')).status, registry.executions.length]).toEqual([502, 1])
    registry.executions.length = 0
    failingFirst(1, failed('threw'))
    expect([(await call('read-it')).status, registry.executions.length]).toEqual([502, 1])
    registry.executions.length = 0
    registry.execute(async () => (await pause(300), failed('connection_lost')))
    expect([(await call('read-it', { timeout_ms: 310 })).status, registry.executions.length]).toEqual([502, 1])
  })
  it('is tried again for every tenth call at most, once what was saved up is spent', () => {
    const budget = createRetryBudget()('a skill')
    let spent = 0
    for (let calls = 0; calls < 1000; calls += 1) {
      budget.earn()
      for (let again = 0; again < 2; again += 1) if (budget.spend()) spent += 1
    }
    expect(spent).toBeGreaterThanOrEqual(100)
    expect(spent).toBeLessThanOrEqual(110)
  })
})

describe('deadlines', () => {
  it('are the least of what the caller says in its body and its header, and of what the skill allows', async () => {
    const asked = async (body: object, headers: Record<string, string> = {}): Promise<number> => {
      registry.execute(() => ok)
      registry.executions.length = 0
      await call('read-it', body, headers)
      return registry.executions[0]?.timeoutMs ?? 0
    }
    for (const [body, headers, least] of [
      [{}, {}, 3000],
      [{ timeout_ms: 500 }, {}, 500],
      [{ timeout_ms: 500 }, { 'repertoire-timeout-ms': '400' }, 400],
      [{}, { 'repertoire-timeout-ms': '100000' }, 3000],
    ] as const) {
      const ms = await asked(body, headers)
      expect([least, ms <= least && ms > least - 300]).toEqual([least, true])
    }
    for (const bad of ['0', '-1', '1.5', 'soon'])
      expect([bad, (await call('read-it', {}, { 'repertoire-timeout-ms': bad })).body.error?.code]).toEqual([bad, 'INVALID_REQUEST'])
  })
})

describe('a call whose deadline passes before it begins', () => {
  it('does nothing, and says so', async () => {
    const { intend } = registry.deps.calls
    const slow = vi.spyOn(registry.deps.calls, 'intend').mockImplementationOnce(async (...intent) => {
      await pause(60)
      await intend(...intent)
    })
    registry.execute(() => ok)
    const late = await call('do-once', { timeout_ms: 50 })
    slow.mockRestore()
    expect([late.status, late.body.error?.code, late.body.error?.effect, registry.executions.length]).toEqual([504, 'TIMEOUT', 'none', 0])
    expect(late.body.error?.message).toBe('do-once 1.0.0 was not begun: the 50 ms it may take had passed.')
    expect(await rowOf(late)).toMatchObject({ outcome: 'timeout', attempts: 0 })
  })
})

describe('a call that waits to be let in', () => {
  it('has waited on its own time: its deadline has gone on, and its row says how long it took in all', async () => {
    const narrow = await openTestRegistry({ admission: createAdmission(1) })
    try {
      await narrow.publish({ name: 'take-200', front: 'permission: []\neffects: once' })
      await narrow.release('take-200', '1.0.0')
      narrow.execute(async () => {
        await pause(200)
        return ok
      })
      const ask = (body: object): Promise<Reply> => narrow.send('POST', '/v1/skills/take-200/calls', { body })
      const first = ask({})
      await pause(20)
      const waiting = await ask({})
      const row = (await narrow.send('GET', `/v1/calls/${waiting.body.meta.call_id}`)).body.data
      expect([row.outcome, row.queue_ms > 100, row.total_ms >= row.queue_ms + row.executor_ms]).toEqual(['ok', true, true])
      await first
      const second = ask({})
      await pause(20)
      const late = await ask({ timeout_ms: 100 })
      await second
      expect([late.body.error?.code, late.body.error?.effect, narrow.executions.length]).toEqual(['TIMEOUT', 'none', 3])
    } finally {
      await narrow.close()
    }
  })
})

describe('an upstream that hangs', () => {
  it('fills its own places and nobody else’s: two hundred callers of it, and no call of another skill is refused', async () => {
    await skill('hang-long', 'effects: read\ntimeout_ms: 3000')
    await skill('stay-quick', 'effects: read')
    let hanging = 0
    registry.execute(async ({ version, timeoutMs }: Execution) => {
      if (version.manifest.name !== 'hang-long') return ok
      hanging += 1
      await pause(timeoutMs)
      return failed('deadline', { code: 'TIMEOUT' })
    })
    const stuck = Array.from({ length: 200 }, () => call('hang-long'))
    await pause(300)
    const quick = await Promise.all(Array.from({ length: 100 }, () => call('stay-quick')))
    const ended = await Promise.all(stuck)
    const codes = ended.map((reply) => reply.body.error?.code)
    expect([
      new Set(quick.map((reply) => reply.status)),
      hanging,
      codes.filter((code) => code === 'TIMEOUT').length,
      codes.filter((code) => code === 'BUSY').length,
    ]).toEqual([new Set([200]), 64, 64, 136])
  })
})

describe('the breaker', () => {
  it('opens when half of ten calls failed, lets one through after a rest, and closes when that goes well', () => {
    let now = 0
    const breaker = createBreaker(() => now)
    for (let calls = 0; calls < 9; calls += 1) breaker.note(true)
    expect(breaker.closedForMs()).toBe(0)
    breaker.note(true)
    expect(breaker.closedForMs()).toBe(5000)
    now = 5001
    expect([breaker.closedForMs(), breaker.closedForMs() > 0]).toEqual([0, true])
    breaker.note(true)
    expect(breaker.closedForMs()).toBe(5000)
    now = 10_002
    expect(breaker.closedForMs()).toBe(0)
    breaker.note(false)
    expect([breaker.closedForMs(), breaker.closedForMs()]).toEqual([0, 0])
  })
  it('forgets failures of long ago, and stays closed while most calls go well', () => {
    let now = 0
    const breaker = createBreaker(() => now)
    for (let calls = 0; calls < 9; calls += 1) breaker.note(true)
    now = 10_001
    for (let calls = 0; calls < 30; calls += 1) breaker.note(calls % 3 === 0)
    expect(breaker.closedForMs()).toBe(0)
  })
  it('leaves the trial to the next caller where it told nothing', () => {
    let now = 0
    const breaker = createBreaker(() => now)
    for (let calls = 0; calls < 10; calls += 1) breaker.note(true)
    now = 5001
    expect([breaker.closedForMs(), breaker.closedForMs() > 0]).toEqual([0, true])
    breaker.note(undefined)
    expect(breaker.closedForMs()).toBe(0)
    breaker.note(false)
    expect(breaker.closedForMs()).toBe(0)
  })
  it('is not opened for everybody by a caller that gives up at once', async () => {
    await registry.send('POST', '/v1/connections', { body: { name: 'shop', base_url: 'https://shop.example.com' } })
    const front = 'permission: []\neffects: once\ntimeout_ms: 3000\nexecutor: {kind: http, connection: shop, path: /, method: POST}'
    await registry.publish({ name: 'take-a-while', front, files: {} })
    await registry.release('take-a-while', '1.0.0')
    registry.execute(async ({ timeoutMs }) => {
      if (timeoutMs > 1000) return ok
      await pause(timeoutMs)
      return failed('deadline', { code: 'TIMEOUT' })
    })
    const hasty = await Promise.all(Array.from({ length: 20 }, () => call('take-a-while', { timeout_ms: 200 })))
    expect(new Set(hasty.map((reply) => reply.body.error?.code))).toEqual(new Set(['TIMEOUT']))
    expect((await call('take-a-while')).status).toBe(200)
  })
  it('answers at once for an upstream that keeps failing, and not for skills that are at fault themselves', async () => {
    await skill('fail-always', 'effects: once')
    registry.execute(() => failed('runner', { code: 'EXECUTOR_UNREACHABLE' }))
    for (let calls = 0; calls < 10; calls += 1) await call('fail-always')
    registry.executions.length = 0
    const left = await call('fail-always')
    expect([left.body.error?.code, left.body.error?.details[0]?.reason, left.body.error?.effect, registry.executions.length]).toEqual([
      'EXECUTOR_UNREACHABLE',
      'circuit_open',
      'none',
      0,
    ])
    await skill('break-itself', 'effects: once')
    registry.execute(() => failed('threw'))
    for (let calls = 0; calls < 15; calls += 1) await call('break-itself')
    expect(registry.executions).toHaveLength(15)
  })
})
