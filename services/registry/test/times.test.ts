import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
const reason = 'a test tries it'
beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.agent('desk-bot')
  for (const version of ['1.0.0', '1.1.0']) await registry.publish({ name: 'timed', version })
  await registry.release('timed', '1.0.0')
})
afterAll(() => registry.close())

const post = (path: string, body: object): Promise<Reply> =>
  registry.send('POST', `/v1/${path}`, { body: { reason, ...body }, headers: { 'if-match': '*' } })
const get = (path: string): Promise<Reply> => registry.send('GET', `/v1/${path}`)

/** Every place where a time is sent. */
const places: Readonly<Record<string, (time: string) => Promise<Reply>>> = {
  start_at: (time) => post('skills/timed/rollouts?dry_run=true', { version: '1.1.0', percent: 5, force: true, start_at: time }),
  sunset: (time) => post('skills/timed/versions/1.0.0/deprecate?dry_run=true', { sunset: time }),
  expires_at: (time) => post('agents/desk-bot/grants', { pattern: 'orders:read', expires_at: time }),
  at: (time) => get(`skills/timed/resolution?agent=desk-bot&at=${encodeURIComponent(time)}`),
  from: (time) => get(`audit?from=${encodeURIComponent(time)}`),
  to: (time) => get(`audit?to=${encodeURIComponent(time)}`),
}
const outside = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999Z',
  '1970-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-14:00',
  '9999-12-31T23:59:59-00:01',
  '2026-01-01T00:00:00+99:99',
  '2026-02-30T00:00:00Z',
  '+010000-01-01T00:00:00Z',
  'tomorrow',
]

describe('a time that nobody can keep', () => {
  it.each(Object.keys(places))('400 INVALID_REQUEST as %s', async (place) => {
    const replies = await Promise.all(outside.map(async (time) => [time, await places[place]?.(time)] as const))
    expect(replies.map(([time, reply]) => [time, reply?.status, reply?.body.error?.code])).toEqual(
      outside.map((time) => [time, 400, 'INVALID_REQUEST']),
    )
    expect(replies.every(([, reply]) => reply?.body.error?.hint?.startsWith(`${place}: `))).toBe(true)
  })
  it('400 INVALID_REQUEST as the end of a window that is widened to whole days or minutes', async () => {
    const window = 'from=9999-12-30T00:00:00Z&to=9999-12-31T23:59:59Z'
    const asked = ['calls', 'errors', 'denials', 'unused', 'refusals']
    const replies = await Promise.all(asked.map((what) => get(`stats/${what}?${window}`)))
    expect(replies.map(({ body }) => body.error?.code)).toEqual(asked.map(() => 'INVALID_REQUEST'))
  })
  it('400 INVALID_REQUEST as a day of a sunset', async () => {
    for (const day of ['0000-01-01', '0001-01-01', '1969-12-31', '2026-02-30', '10000-01-01']) {
      const reply = await places['sunset']?.(day)
      expect([day, reply?.status, reply?.body.error?.hint]).toEqual([
        day,
        400,
        'sunset: write a day such as 2026-12-31, or a time, from 1970 to the end of 9999 in UTC',
      ])
    }
  })
})

describe('a time at the edge', () => {
  it('is what comes back', async () => {
    const last = '9999-12-31T23:59:59.999Z'
    const started = await post('skills/timed/rollouts', {
      version: '1.1.0',
      percent: 5,
      force: true,
      start_at: '9999-12-31T23:59:59.999+00:00',
    })
    expect([started.status, started.body.data.start_at]).toEqual([201, last])
    expect((await get(`rollouts/${started.body.data.id}`)).body.data.start_at).toBe(last)
    const grant = await post('agents/desk-bot/grants', { pattern: 'orders:read', expires_at: last })
    expect([grant.status, grant.body.data.expires_at]).toEqual([201, last])
    const sunset = async (): Promise<unknown> => (await get('skills/timed/versions')).body.data.items.at(-1).sunset_at
    expect([(await post('skills/timed/versions/1.0.0/deprecate', { sunset: '9999-12-31' })).status, await sunset()]).toEqual([
      200,
      '9999-12-31T00:00:00.000Z',
    ])
    expect([(await post('skills/timed/versions/1.0.0/deprecate', { sunset: '1970-01-01T02:00:00+02:00' })).status, await sunset()]).toEqual(
      [200, '1970-01-01T00:00:00.000Z'],
    )
    expect((await get('audit?from=1970-01-01T00:00:00Z&to=9999-12-31T23:59:59Z')).body.data.items.length).toBeGreaterThan(3)
    for (const at of ['1970-01-01T00:00:00Z', last]) expect((await places['at']?.(at))?.status).toBeLessThan(500)
    expect(registry.bugs).toEqual([])
  })
})
