import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Execution } from '../src/ports.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
const result = (value: unknown): { readonly kind: 'result'; readonly json: Buffer } => ({
  kind: 'result',
  json: Buffer.from(JSON.stringify(value)),
})
const start = (skill: string, as = key): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${skill}/calls`, { key: as, body: {}, headers: { prefer: 'respond-async' } })
const get = (id: string, query = '', as = key): Promise<Reply> => registry.send('GET', `/v1/calls/${id}${query}`, { key: as })
const cancel = (id: string, as = key): Promise<Reply> => registry.send('POST', `/v1/calls/${id}/cancel`, { key: as, body: {} })
/** An executor that runs until it is told to end. */
const untilEnded = ({ signal }: Execution): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('ended')), { once: true }))

beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'take-long', front: 'permission: []\neffects: once\ntimeout_ms: 60000' })
  await registry.release('take-long', '1.0.0')
  key = await registry.agent('caller')
})
afterAll(() => registry.close())
beforeEach(() => registry.execute(() => result({ done: true })))

describe('a call in the background', () => {
  it('202: is there at once for every reader, and its end when it comes', async () => {
    let end = (): void => undefined
    registry.execute(() => new Promise((resolve) => (end = () => resolve(result({ done: 1 })))))
    const started = await start('take-long')
    const id = started.body.data.call_id
    expect([started.status, started.headers.get('location'), started.headers.get('preference-applied')]).toEqual([
      202,
      `/v1/calls/${id}`,
      'respond-async',
    ])
    const running = await get(id)
    expect(running.body.data).toMatchObject({ state: 'running', skill: 'take-long', agent_id: 'caller', settled: null })
    const waiting = get(id, '?wait=10')
    await pause(300)
    end()
    expect((await waiting).body.data).toMatchObject({ state: 'done', outcome: 'ok', output: { done: 1 } })
    const whole = await registry.send('GET', `/v1/calls/${id}/result`, { key })
    expect([whole.body.data.text, whole.body.data.next]).toEqual(['{"done":1}', null])
  })
  it('says no before it starts as any call does, and keeps what went wrong later in its row', async () => {
    expect([(await start('absent-one')).status, (await registry.sql`select 1 from call_intents`).length]).toEqual([404, 0])
    registry.execute(() => ({ kind: 'failed', code: 'EXECUTOR_FAILED', reason: 'threw', message: 'It broke.', details: [] }))
    const { body } = await start('take-long')
    expect((await get(body.data.call_id, '?wait=5')).body.data).toMatchObject({
      state: 'done',
      outcome: 'executor_error',
      error_code: 'EXECUTOR_FAILED',
    })
  })
  it('is not carried out where the database does not say in time whether it took it, and is not one of which nobody knows', async () => {
    registry.executions.length = 0
    await registry.sql.unsafe(`
      create function take_its_time() returns trigger language plpgsql as $$ begin perform pg_sleep(1.5); return null; end $$;
      create constraint trigger slow_commit after insert on call_intents deferrable initially deferred for each row execute function take_its_time()`)
    const { status, body } = await start('take-long')
    await registry.sql.unsafe('drop trigger slow_commit on call_intents; drop function take_its_time')
    expect([status, body.error?.code, body.error?.effect, body.error?.next]).toEqual([503, 'UNAVAILABLE', 'none', 'retry'])
    const ended = await get(String(body.meta.call_id))
    expect(ended.body.data).toMatchObject({ state: 'done', outcome: 'registry_error', error_code: 'UNAVAILABLE' })
    expect([registry.executions.length, await registry.sql`select 1 from call_intents`]).toEqual([0, []])
  })
  it('is ended by its agent or an operator, within a second, wherever that is asked, and by nobody else', async () => {
    registry.execute(untilEnded)
    const stranger = await registry.agent('stranger')
    const auditor = await registry.agent('auditor', { role: 'auditor' })
    for (const who of [key, undefined]) {
      const id = (await start('take-long')).body.data.call_id
      expect([(await cancel(id, stranger)).status, (await cancel(id, auditor)).status]).toEqual([404, 404])
      const asked = performance.now()
      expect(
        (await registry.send('POST', `/v1/calls/${id}/cancel`, { body: {}, ...(who === undefined ? {} : { key: who }) })).body.data,
      ).toEqual({ call_id: id, cancel_requested: true })
      const ended = await get(id, '?wait=10')
      expect([ended.body.data.state, ended.body.data.outcome, performance.now() - asked < 4000]).toEqual(['done', 'cancelled', true])
      expect((await cancel(id)).body.error?.code).toBe('ILLEGAL_TRANSITION')
    }
  })
  it('is ended within a second also while it waits for a place', async () => {
    await registry.publish({ name: 'take-turns', front: 'permission: []\neffects: once\nconcurrency: 1\ntimeout_ms: 60000' })
    await registry.release('take-turns', '1.0.0')
    registry.execute(untilEnded)
    const ids: string[] = []
    for (let calls = 0; calls < 3; calls += 1) {
      ids.push((await start('take-turns')).body.data.call_id)
      await pause(100)
    }
    const [holder = '', first = '', second = ''] = ids
    for (const id of [second, first]) {
      const asked = performance.now()
      await cancel(id)
      const ended = await get(id, '?wait=10')
      expect([ended.body.data.state, ended.body.data.outcome, performance.now() - asked < 4000]).toEqual(['done', 'cancelled', true])
    }
    await cancel(holder)
    await get(holder, '?wait=10')
    expect(registry.executions.filter(({ version }) => version.manifest.name === 'take-turns')).toHaveLength(1)
  })
  it('hears of its end also when the notification was lost', async () => {
    registry.execute(untilEnded)
    const id = (await start('take-long')).body.data.call_id
    await registry.sql`update call_intents set cancel_requested_at = now() where call_id = ${id}`
    expect((await get(id, '?wait=10')).body.data.outcome).toBe('cancelled')
  })
  it('whose process died becomes unknown, not forgotten', async () => {
    let end = (): void => undefined
    registry.execute(() => new Promise((resolve) => (end = () => resolve(result({})))))
    const id = (await start('take-long')).body.data.call_id
    await registry.sql`update call_intents set instance = gen_random_uuid(), spool = gen_random_uuid(), noted_at = now() - interval '1 minute'`
    const { settleOnce } = await import('../src/log/settle-orphans.ts')
    const { installId } = registry.deps.snapshot()
    const other = '0192aaaa-0000-7000-8000-000000000000'
    await settleOnce(registry.sql, { installId, spool: other, instance: other, openCalls: [], isCaughtUp: true, steadyMs: 60_000 })
    expect((await get(id)).body.data).toMatchObject({ state: 'done', outcome: 'unknown', error_code: 'OUTCOME_UNKNOWN' })
    // It was alive after all: what really happened takes the place of what nobody knew.
    end()
    await expect.poll(async () => (await get(id)).body.data.outcome).toBe('ok')
  })
  it('of another agent is as absent as none, also for whoever waits', async () => {
    registry.execute(untilEnded)
    const id = (await start('take-long')).body.data.call_id
    const stranger = await registry.agent('curious')
    const began = performance.now()
    expect([(await get(id, '?wait=10', stranger)).status, performance.now() - began < 2000]).toEqual([404, true])
    await cancel(id)
  })
})
