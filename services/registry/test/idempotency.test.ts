import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Refusal } from '@repertoire/core'
import { openClaims } from '../src/log/claims.ts'
import type { Pool } from '../src/store/connect.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
let count = 0
const result = (value: unknown): { readonly kind: 'result'; readonly json: Buffer } => ({
  kind: 'result',
  json: Buffer.from(JSON.stringify(value)),
})
const call = (skill: string, idempotencyKey: string, body: object = { arguments: {} }, as = key): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${skill}/calls`, { key: as, body, headers: { 'idempotency-key': idempotencyKey } })
const rows = async (skill: string): Promise<readonly Record<string, unknown>[]> => {
  await registry.deps.calls.get('0192aaaa-0000-7000-8000-000000000000')
  return registry.sql`select call_id, outcome, version, idempotency_key_hash from calls where skill = ${skill} order by call_id`
}

beforeAll(async () => {
  registry = await openTestRegistry()
  for (const effects of ['read', 'idempotent', 'once']) {
    await registry.publish({ name: `${effects}-it`, front: `permission: []\neffects: ${effects}\ntimeout_ms: 2000` })
    await registry.release(`${effects}-it`, '1.0.0')
  }
  key = await registry.agent('caller')
})
afterAll(() => registry.close())
beforeEach(() => {
  count = 0
  registry.executions.length = 0
  registry.execute(() => result({ number: (count += 1) }))
})

describe('an Idempotency-Key', () => {
  it('gives the first answer again, byte for byte, without a row or an effect of its own', async () => {
    const first = await call('once-it', 'k1')
    const again = await call('once-it', 'k1')
    expect([first.status, first.body.data, first.headers.get('idempotency-replayed')]).toEqual([200, { number: 1 }, null])
    expect([again.status, again.text, again.headers.get('idempotency-replayed')]).toEqual([200, first.text, 'true'])
    expect([count, await rows('once-it')]).toEqual([
      1,
      [expect.objectContaining({ outcome: 'ok', idempotency_key_hash: expect.stringMatching(/^[0-9a-f]{64}$/) })],
    ])
    expect(JSON.stringify(await registry.sql`select * from call_claims`)).not.toContain('number')
  })
  it('is one agent’s and one skill’s', async () => {
    const other = await registry.agent('other')
    await call('read-it', 'shared')
    expect([(await call('read-it', 'shared', {}, other)).body.data, (await call('idempotent-it', 'shared')).body.data]).toEqual([
      { number: 2 },
      { number: 3 },
    ])
  })
  it('of another request is IDEMPOTENCY_MISMATCH, and of spoiled form INVALID_REQUEST', async () => {
    await call('read-it', 'k2', { arguments: { a: 1, b: 2 } })
    const same = await call('read-it', 'k2', { arguments: { b: 2, a: 1 } })
    const other = await call('read-it', 'k2', { arguments: { a: 2 } })
    expect([same.status, other.status, other.body.error?.code, count]).toEqual([200, 422, 'IDEMPOTENCY_MISMATCH', 1])
    for (const bad of ['', 'x'.repeat(256), 'a b', 'ä'])
      expect([bad, (await call('read-it', bad)).body.error?.code]).toEqual([bad, 'INVALID_REQUEST'])
  })
  it('of another tenant is another request, whether body or header says for whom it is', async () => {
    const forTenant = (tenant: string): Promise<Reply> =>
      registry.send('POST', '/v1/skills/read-it/calls', {
        key,
        body: {},
        headers: { 'idempotency-key': 'k13', 'repertoire-tenant': tenant },
      })
    const first = await forTenant('one')
    expect([first.status, (await forTenant('two')).body.error?.code]).toEqual([200, 'IDEMPOTENCY_MISMATCH'])
    expect([(await forTenant('one')).text, (await call('read-it', 'k13', { tenant: 'one' })).text]).toEqual([first.text, first.text])
  })
  it('that was taken without anybody hearing of it is free again: the call was refused and did nothing', async () => {
    // The database does what it is asked, and its answer is lost.
    const gate = {
      run: async (work: () => Promise<unknown>) => {
        await work()
        throw new Refusal('UNAVAILABLE', 'The database did not answer in time.')
      },
    }
    const deaf = openClaims(() => ({ sql: registry.sql, gate }) as unknown as Pool)
    const taking = vi.spyOn(registry.deps.claims, 'claim').mockImplementationOnce(deaf.claim)
    const refused = await call('once-it', 'k14')
    taking.mockRestore()
    expect([refused.body.error?.code, refused.body.error?.effect]).toEqual(['UNAVAILABLE', 'none'])
    const isTaken = async (): Promise<boolean> => (await call('once-it', 'k14')).status !== 200
    expect(await isTaken()).toBe(true)
    await expect.poll(isTaken, { timeout: 10_000, interval: 250 }).toBe(false)
    expect(count).toBe(1)
  })
  it('whose call is under way is CALL_IN_FLIGHT; a hundred at once have one effect and one answer', async () => {
    registry.execute(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return result({ number: (count += 1) })
    })
    const replies = await Promise.all(Array.from({ length: 100 }, () => call('once-it', 'k3')))
    const answered = replies.filter((reply) => reply.status === 200)
    const refused = replies.filter((reply) => reply.status !== 200)
    expect([count, new Set(answered.map((reply) => reply.text)).size, new Set(refused.map((reply) => reply.body.error?.code))]).toEqual([
      1,
      1,
      new Set(['CALL_IN_FLIGHT']),
    ])
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect((await call('once-it', 'k3')).text).toBe(answered[0]?.text)
  })
  it('keeps what went wrong once it may have had an effect, and is free again where nothing was done', async () => {
    registry.execute(() => {
      count += 1
      return { kind: 'failed', code: 'EXECUTOR_FAILED', reason: 'threw', message: 'It broke.', details: [] }
    })
    const broken = await call('once-it', 'k4')
    expect([broken.status, (await call('once-it', 'k4')).text, count]).toEqual([502, broken.text, 1])
    registry.execute(() => ({ kind: 'failed', code: 'EXECUTOR_UNREACHABLE', reason: 'credential', message: 'Nobody there.', details: [] }))
    const away = await call('once-it', 'k5')
    registry.execute(() => result({ number: 7 }))
    expect([away.body.error?.effect, (await call('once-it', 'k5')).body.data]).toEqual(['none', { number: 7 }])
  })
  it('answers after its version was rolled over, not after it was blocked, and not to whoever lost the right', async () => {
    await registry.publish({ name: 'move-it', front: 'permission: [vault]\neffects: once' })
    await registry.release('move-it', '1.0.0')
    const holder = await registry.agent('holder', { grants: ['vault'] })
    const first = await call('move-it', 'k6', {}, holder)
    await registry.publish({ name: 'move-it', version: '1.1.0', front: 'permission: [vault]\neffects: once' })
    await registry.release('move-it', '1.1.0')
    const post = (path: string): Promise<Reply> =>
      registry.send('POST', path, { body: { reason: 'a test withdraws it' }, headers: { 'if-match': '*' } })
    await post('/v1/skills/move-it/versions/1.0.0/yank')
    expect((await call('move-it', 'k6', {}, holder)).text).toBe(first.text)
    const grants = (await registry.send('GET', '/v1/agents/holder/grants')).body.data.items
    await registry.send('DELETE', `/v1/agents/holder/grants/${grants[0].id}`)
    expect((await call('move-it', 'k6', {}, holder)).body.error?.code).toBe('PERMISSION_DENIED')
    await registry.send('POST', '/v1/agents/holder/grants', { body: { pattern: 'vault', reason: 'a test grants it again' } })
    await post('/v1/skills/move-it/versions/1.0.0/block')
    expect((await call('move-it', 'k6', {}, holder)).body.error?.code).toBe('VERSION_WITHDRAWN')
  })
  it('whose process is gone: what may be repeated is taken over after its lease, what happens once is OUTCOME_UNKNOWN until it is settled', async () => {
    const abandon = async ({ body }: Reply): Promise<unknown> =>
      registry.sql`update call_claims set state = 'running', answer = null, lease_until = now() - interval '1 second' where call_id = ${body.meta.call_id ?? ''}`
    await abandon(await call('idempotent-it', 'k7'))
    expect((await call('idempotent-it', 'k7')).body.data).toEqual({ number: 2 })
    const first = await call('once-it', 'k8')
    await abandon(first)
    const unknown = await call('once-it', 'k8')
    expect([unknown.status, unknown.body.error?.code, unknown.body.error?.effect, count]).toEqual([409, 'OUTCOME_UNKNOWN', 'possible', 3])
    // As whoever looks for orphans leaves it.
    await registry.sql`update call_claims set state = 'unknown' where call_id = ${first.body.meta.call_id ?? ''}`
    await registry.sql`update calls set outcome = 'unknown' where call_id = ${first.body.meta.call_id ?? ''}`
    const settle = (id: unknown, happened: boolean, as?: string): Promise<Reply> =>
      registry.send('POST', `/v1/calls/${String(id)}/settle`, {
        body: { happened, reason: 'looked into the other system' },
        ...(as === undefined ? {} : { key: as }),
      })
    expect((await settle(first.body.meta.call_id, true, key)).body.error?.code).toBe('ROLE_REQUIRED')
    const settled = await settle(first.body.meta.call_id, true)
    expect(settled.body.data.settled).toMatchObject({ happened: true, by: 'admin' })
    expect([(await call('once-it', 'k8')).body.error?.effect, (await settle(first.body.meta.call_id, false)).body.error?.code]).toEqual([
      'done',
      'ILLEGAL_TRANSITION',
    ])
    const audit = (await registry.send('GET', '/v1/audit?action=call.settle')).body.data.items
    expect(audit[0]).toMatchObject({ subject: first.body.meta.call_id, reason: 'looked into the other system' })
  })
  it('of a call that was settled as not happened is free again', async () => {
    const first = await call('once-it', 'k9')
    const id = first.body.meta.call_id ?? ''
    await registry.sql`update call_claims set state = 'unknown', answer = null where call_id = ${id}`
    await rows('once-it')
    await registry.sql`update calls set outcome = 'unknown' where call_id = ${id}`
    await registry.send('POST', `/v1/calls/${id}/settle`, { body: { happened: false, reason: 'nothing arrived there' } })
    expect((await call('once-it', 'k9')).body.data).toEqual({ number: 2 })
  })
  it('whose call was refused before it did anything is free at once, whatever refused it', async () => {
    const down = vi.spyOn(registry.deps.calls, 'isDown').mockReturnValueOnce(true)
    const refused = await call('once-it', 'k12')
    down.mockRestore()
    expect([refused.status, refused.body.error?.code, refused.body.error?.effect]).toEqual([503, 'LOG_UNAVAILABLE', 'none'])
    expect((await call('once-it', 'k12')).body.data).toEqual({ number: 1 })
  })
  it('is free again after a day', async () => {
    await call('once-it', 'k10')
    await registry.sql`update call_claims set claimed_at = now() - interval '25 hours', lease_until = now() - interval '24 hours'`
    expect((await call('once-it', 'k10')).body.data).toEqual({ number: 2 })
  })
  it('of a dry run means nothing, and of a background call gives its id again', async () => {
    await call('once-it', 'k11', { dry_run: true })
    const background = (): Promise<Reply> =>
      registry.send('POST', '/v1/skills/once-it/calls', { key, body: {}, headers: { 'idempotency-key': 'k11', prefer: 'respond-async' } })
    const first = await background()
    expect([first.status, (await background()).text]).toEqual([202, first.text])
    const ended = await registry.send('GET', `/v1/calls/${first.body.data.call_id}?wait=5`, { key })
    expect([ended.body.data.state, ended.body.data.outcome, count]).toEqual(['done', 'ok', 1])
  })
})
