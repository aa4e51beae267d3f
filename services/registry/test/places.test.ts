import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ExecutorResult } from '../src/ports.ts'
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
const skill = async (name: string, front: string): Promise<void> => {
  await registry.publish({ name, front: `permission: []\n${front}` })
  await registry.release(name, '1.0.0')
}

beforeAll(async () => {
  registry = await openTestRegistry()
  key = await registry.agent('caller')
})
afterAll(() => registry.close())
beforeEach(() => void (registry.executions.length = 0))

describe('a skill that is carried out once at a time', () => {
  it('never runs twice at once over all replicas; whoever waits too long is BUSY, and a dead holder’s place is free after its time', async () => {
    await skill('take-turns', 'effects: once\nconcurrency: 1\ntimeout_ms: 4000')
    let [inside, most] = [0, 0]
    registry.execute(async () => {
      most = Math.max(most, (inside += 1))
      await pause(60)
      inside -= 1
      return ok
    })
    const replies = await Promise.all(Array.from({ length: 12 }, () => call('take-turns')))
    expect([most, new Set(replies.map((reply) => reply.status))]).toEqual([1, new Set([200])])
    // As another replica would hold it.
    const hold = (seconds: number): Promise<unknown> =>
      registry.sql`insert into call_leases (skill_key, slot, call_id, expires_at) values (${'take_turns'}, 0, gen_random_uuid(), now() + make_interval(secs => ${seconds}))
        on conflict (skill_key, slot) do update set call_id = excluded.call_id, expires_at = excluded.expires_at`.then(() => undefined)
    const [known] = await registry.sql`select skill_key from call_leases`
    expect(known).toBeUndefined()
    const heldKey = registry.deps.snapshot().skills.get('take-turns')?.key ?? registry.deps.snapshot().skills.get('take_turns')?.key
    expect(heldKey).toBe('take_turns')
    await hold(30)
    const busy = await call('take-turns', { timeout_ms: 300 })
    expect([busy.status, busy.body.error?.code, busy.body.error?.details[0]?.reason, busy.body.error?.effect]).toEqual([
      503,
      'BUSY',
      'concurrency',
      'none',
    ])
    await hold(0.5)
    expect((await call('take-turns')).status).toBe(200)
  })
  it('whose place was lost is ended, and says that it may have had its effect', async () => {
    await skill('lose-place', 'effects: once\nconcurrency: 1\ntimeout_ms: 20000')
    registry.execute(
      ({ signal }) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve(failed('cancelled')), { once: true })),
    )
    const losing = call('lose-place')
    await expect.poll(async () => (await registry.sql`select 1 from call_leases`).length).toBe(1)
    await registry.sql`delete from call_leases`
    const reply = await losing
    expect([reply.body.error?.code, reply.body.error?.details[0]?.reason, reply.body.error?.effect]).toEqual([
      'EXECUTOR_FAILED',
      'place_lost',
      'possible',
    ])
  })
  it('keeps its place for a moment when its request was hung up on, which goes on where it was sent', async () => {
    await registry.send('POST', '/v1/connections', { body: { name: 'slow-shop', base_url: 'http://127.0.0.1:9' } })
    await registry.publish({
      name: 'hang-up',
      front:
        'permission: []\neffects: once\nconcurrency: 1\ntimeout_ms: 4000\nexecutor: {kind: http, connection: slow-shop, path: /, method: POST}',
      files: {},
    })
    await registry.release('hang-up', '1.0.0')
    const began: number[] = []
    registry.execute(() => (began.push(performance.now()) === 1 ? failed('deadline', { code: 'TIMEOUT' }) : ok))
    const [first, second] = await Promise.all([call('hang-up'), pause(50).then(() => call('hang-up'))])
    expect([first.body.error?.code, second.status, began.length]).toEqual(['TIMEOUT', 200, 2])
    expect((began[1] ?? 0) - (began[0] ?? 0)).toBeGreaterThan(900)
  })
  it('called from within itself is BUSY at once', async () => {
    await skill('call-itself', 'effects: once\nconcurrency: 1\ntimeout_ms: 9000')
    let inner: Reply | undefined
    registry.execute(async ({ callId }) => {
      inner ??= await call('call-itself', { parent_call_id: callId })
      return ok
    })
    const began = performance.now()
    expect([(await call('call-itself')).status, inner?.body.error?.code, performance.now() - began < 5000]).toEqual([200, 'BUSY', true])
  })
  it('keeps nobody waiting past its own deadline, nor a call from within itself, who stands behind somebody more patient', async () => {
    await skill('stand-behind', 'effects: once\nconcurrency: 1\ntimeout_ms: 9000')
    let inner: Reply | undefined
    let short: Reply | undefined
    const tookMs: number[] = []
    const timed = async (work: Promise<Reply>): Promise<Reply> => {
      const began = performance.now()
      const reply = await work
      tookMs.push(performance.now() - began)
      return reply
    }
    let patient: Promise<Reply> | undefined
    registry.execute(async ({ callId }) => {
      if (patient !== undefined) return ok
      patient = call('stand-behind')
      await pause(150)
      short = await timed(call('stand-behind', { timeout_ms: 300 }))
      inner = await timed(call('stand-behind', { parent_call_id: callId }))
      return ok
    })
    const outer = await call('stand-behind')
    expect([outer.status, (await patient)?.status, short?.body.error?.code, inner?.body.error?.code]).toEqual([200, 200, 'BUSY', 'BUSY'])
    expect(tookMs.every((ms) => ms < 1500)).toBe(true)
  })
})
