import { Refusal } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
const keys = new Map<string, string>()
const call = (skill: string, agent: string, more: object = {}): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${skill}/calls`, { key: keys.get(agent) ?? '', body: {}, ...more })
const create = (body: object): Promise<Reply> => registry.send('POST', '/v1/quotas', { body: { reason: 'a test tries it', ...body } })
const clear = async (): Promise<void> => {
  const { items } = (await registry.send('GET', '/v1/quotas')).body.data as { items: { id: string }[] }
  for (const { id } of items) await registry.send('DELETE', `/v1/quotas/${id}`)
}
const statuses = async (count: number, ask: () => Promise<Reply>): Promise<number[]> => {
  const replies = await Promise.all(Array.from({ length: count }, ask))
  return [200, 429].map((status) => replies.filter((reply) => reply.status === status).length)
}

beforeAll(async () => {
  registry = await openTestRegistry()
  // One replica that has heard that it is alone.
  await registry.quotas.exchange()
  await registry.send('POST', '/v1/connections', { body: { name: 'shop', base_url: 'https://shop.example.com' } })
  for (const name of ['send-one', 'send-two']) {
    await registry.publish({ name })
    await registry.release(name, '1.0.0')
  }
  await registry.publish({
    name: 'ask-shop',
    front: 'permission: []\neffects: read\nexecutor: {kind: http, connection: shop, path: /, method: GET}',
    files: {},
  })
  await registry.release('ask-shop', '1.0.0')
  await registry.publish({ name: 'hidden-one', front: 'permission: [vault]\neffects: read\nprivate: true' })
  await registry.release('hidden-one', '1.0.0')
  for (const agent of ['ann', 'bob']) keys.set(agent, await registry.agent(agent))
  // The first moments of a minute, so that none of these tests runs over its end.
  registry.advance(60_000 - (registry.deps.clock.now().getTime() % 60_000) + 1000)
})
afterAll(() => registry.close())

describe('a quota', () => {
  it('429 QUOTA_EXCEEDED: says which, how many and when again, leaves no row, and lets the next minute through', async () => {
    expect((await create({ agent: 'ann', skill: 'send_one', per_minute: 3 })).status).toBe(201)
    expect(await statuses(5, () => call('send-one', 'ann'))).toEqual([3, 2])
    const refused = await call('send-one', 'ann')
    expect(refused.body.error).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      effect: 'none',
      next: 'retry',
      message: 'Agent ann has used the 3 calls a minute of send-one.',
      details: [{ rule: 'per_minute', expected: 'at most 3 calls a minute', reason: expect.stringMatching(/^quota [0-9a-f-]{36}$/) }],
    })
    const wait = Number(refused.headers.get('retry-after'))
    expect([
      wait > 40,
      wait <= 60,
      await statuses(2, () => call('send-two', 'ann')),
      await statuses(4, () => call('send-one', 'bob')),
    ]).toEqual([true, true, [2, 0], [4, 0]])
    const rows = (await registry.send('GET', '/v1/calls?agent=ann&skill=send-one')).body.data.items as unknown[]
    expect([rows.length, registry.deps.quotas.refused()]).toEqual([3, 3])
    registry.advance(60_000)
    expect(await statuses(4, () => call('send-one', 'ann'))).toEqual([3, 1])
    await clear()
    expect(await statuses(4, () => call('send-one', 'ann'))).toEqual([4, 0])
  })
  it('is of an agent, of a skill for everybody, or over a connection, and every one of them has to have room', async () => {
    await create({ agent: 'ann', per_minute: 4 })
    await create({ skill: 'send-two', per_day: 3 })
    await create({ connection: 'shop', per_minute: 2 })
    expect([await statuses(2, () => call('send-two', 'ann')), await statuses(2, () => call('send-two', 'bob'))]).toEqual([
      [2, 0],
      [1, 1],
    ])
    expect((await call('send-two', 'bob')).body.error?.message).toBe('All agents together have used the 3 calls a day of send-two.')
    // What one of them refuses counts against none.
    for (let index = 0; index < 5; index += 1) expect((await call('send-two', 'ann')).status).toBe(429)
    expect(await statuses(3, () => call('ask-shop', 'ann'))).toEqual([2, 1])
    expect((await call('ask-shop', 'bob')).body.error?.message).toContain('over the connection shop')
    expect((await call('send-one', 'ann')).body.error?.message).toBe('Agent ann has used the 4 calls a minute.')
    await clear()
  })
  it('counts what is carried out: no dry run, nothing refused before, and no second answer to a key', async () => {
    await create({ agent: 'bob', skill: 'send-one', per_minute: 2 })
    await statuses(3, () => call('send-one', 'bob', { body: { dry_run: true } }))
    await statuses(3, () => call('send-one', 'bob', { body: { range: '^9' } }))
    const keyed = (): Promise<Reply> => call('send-one', 'bob', { headers: { 'idempotency-key': 'k' } })
    await keyed()
    expect(await statuses(3, keyed)).toEqual([3, 0])
    expect(await statuses(2, () => call('send-one', 'bob'))).toEqual([1, 1])
    // A key that was refused for its quota is free.
    const late = { headers: { 'idempotency-key': 'late' } }
    expect((await call('send-one', 'bob', late)).status).toBe(429)
    await clear()
    expect((await call('send-one', 'bob', late)).status).toBe(200)
    // Many requests with one key are one call.
    await create({ agent: 'bob', skill: 'send-one', per_minute: 50 })
    await Promise.all(Array.from({ length: 20 }, () => call('send-one', 'bob', { headers: { 'idempotency-key': 'same' } })))
    const self = await registry.send('GET', '/v1/agents/self', { key: keys.get('bob') ?? '' })
    expect(self.body.data.quotas[0].minute).toMatchObject({ limit: 50, used: 1 })
    await clear()
  })
  it('does not count a call that the log could not take before it ran, in the background neither', async () => {
    await clear()
    await create({ agent: 'ann', skill: 'send_two', per_minute: 2 })
    const down = vi.spyOn(registry.deps.calls, 'isDown').mockReturnValueOnce(true)
    expect((await call('send-two', 'ann')).body.error?.code).toBe('LOG_UNAVAILABLE')
    down.mockRestore()
    const away = vi.spyOn(registry.deps.asyncCalls, 'announce').mockRejectedValueOnce(new Refusal('UNAVAILABLE', 'The database is away.'))
    expect((await call('send-two', 'ann', { headers: { prefer: 'respond-async' } })).body.error?.code).toBe('UNAVAILABLE')
    away.mockRestore()
    expect(await statuses(3, () => call('send-two', 'ann'))).toEqual([2, 1])
    await clear()
  })
  it('is shown to its agent with what was used, and neither to others nor for what it may not know', async () => {
    await create({ agent: 'ann', skill: 'send-one', per_minute: 9, per_day: 90 })
    await create({ agent: 'ann', skill: 'hidden-one', per_day: 1 })
    await create({ skill: 'send-one', per_day: 1000 })
    await statuses(2, () => call('send-one', 'ann'))
    const quotas = async (agent: string): Promise<unknown> =>
      (await registry.send('GET', '/v1/agents/self', { key: keys.get(agent) ?? '' })).body.data.quotas
    expect([await quotas('ann'), await quotas('bob')]).toEqual([
      [
        {
          skill: 'send-one',
          minute: { limit: 9, used: 2, resets_at: expect.stringMatching(/:00\.000Z$/) as string },
          day: { limit: 90, used: 2, resets_at: expect.stringMatching(/T00:00:00\.000Z$/) as string },
        },
      ],
      [],
    ])
    await clear()
  })
})

describe('/v1/quotas', () => {
  it('201, 200: one about each thing, listed by pages, and an audit event for each change', async () => {
    const made = await create({ agent: 'ann', skill: 'send-one', per_minute: 3 })
    const other = await create({ connection: 'shop', per_day: 7 })
    expect(made.body.data).toMatchObject({
      agent: 'ann',
      skill: 'send-one',
      connection: null,
      per_minute: 3,
      per_day: null,
      created_by: 'admin',
    })
    expect((await create({ agent: 'ann', skill: 'send_one', per_day: 3 })).body.error?.code).toBe('CONFLICT')
    const first = await registry.send('GET', '/v1/quotas?limit=1')
    const second = await registry.send('GET', `/v1/quotas?limit=1&cursor=${first.body.data.next_cursor}`)
    expect([first.body.data.items, second.body.data.items, second.body.data.next_cursor]).toEqual([
      [made.body.data],
      [other.body.data],
      null,
    ])
    const id = String(made.body.data.id)
    expect((await registry.send('DELETE', `/v1/quotas/${id}`)).body.data).toEqual({ id, removed: true })
    const events = (await registry.send('GET', '/v1/audit?limit=3')).body.data.items as { action: string; subject: string }[]
    expect(events.map(({ action }) => action)).toEqual(['quota.remove', 'quota.create', 'quota.create'])
    expect((await create({ agent: 'ann', skill: 'send-one', per_minute: 4 })).status).toBe(201)
    await clear()
  })
  it.each([
    ['a quota about nothing', { per_minute: 3 }],
    ['a connection and an agent at once', { connection: 'shop', agent: 'ann', per_minute: 3 }],
    ['no number', { agent: 'ann' }],
    ['a number that is none', { agent: 'ann', per_minute: 0 }],
    ['a fraction', { agent: 'ann', per_day: 1.5 }],
    ['a short reason', { agent: 'ann', per_day: 1, reason: 'short' }],
  ])('400 INVALID_REQUEST: %s', async (_, body) => {
    expect((await create(body)).body.error?.code).toBe('INVALID_REQUEST')
  })
  it('403 ROLE_REQUIRED: anybody but an admin', async () => {
    const operator = await registry.agent('op', { role: 'operator' })
    for (const key of [operator, keys.get('ann') ?? '']) {
      expect((await registry.send('GET', '/v1/quotas', { key })).body.error?.code).toBe('ROLE_REQUIRED')
      const body = { agent: 'ann', per_minute: 3, reason: 'a test tries it' }
      expect((await registry.send('POST', '/v1/quotas', { key, body })).body.error?.code).toBe('ROLE_REQUIRED')
      expect((await registry.send('DELETE', '/v1/quotas/x', { key })).body.error?.code).toBe('ROLE_REQUIRED')
    }
  })
  it('404: an agent, a skill, a connection or a quota that is not there', async () => {
    expect((await create({ agent: 'nobody', per_minute: 3 })).body.error?.code).toBe('NOT_FOUND')
    expect((await create({ skill: 'no-such', per_minute: 3 })).body.error?.code).toBe('SKILL_NOT_FOUND')
    expect((await create({ connection: 'none', per_minute: 3 })).body.error?.code).toBe('NOT_FOUND')
    for (const id of ['x', '01980000-0000-7000-8000-000000000000'])
      expect((await registry.send('DELETE', `/v1/quotas/${id}`)).body.error?.code).toBe('NOT_FOUND')
  })
})
