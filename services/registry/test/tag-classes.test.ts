import { TagClasses } from '@repertoire/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'reads-mail', front: 'permission: [smtp]\neffects: read' })
  await registry.release('reads-mail', '1.0.0')
})
afterAll(() => registry.close())

const grant = (agent: string, pattern: string, more: object = {}): Promise<Reply> =>
  registry.send('POST', `/v1/agents/${agent}/grants`, { body: { pattern, reason: 'a test grants it', ...more } })
const held = async (agent: string): Promise<string[]> =>
  (await registry.send('GET', `/v1/agents/${agent}/grants`)).body.data.items.map((item: Data) => `${item.deny ? '!' : ''}${item.pattern}`)
const explained = async (agent: string): Promise<string[]> =>
  (await registry.send('GET', `/v1/agents/${agent}/explain?skill=reads-mail`)).body.data.classes.map(
    (entry: Data) => `${entry.tag_class}: ${entry.grants.map((given: Data) => given.pattern).join(' ')}`,
  )
const events = async (agent: string): Promise<Data[]> => (await registry.send('GET', `/v1/audit?subject=${agent}`)).body.data.items

describe('a grant that gives one agent private data, untrusted content and a way out', () => {
  it('409 ILLEGAL_TRANSITION: is refused with the three and what gives them, and changes nothing', async () => {
    await registry.agent('risky', { grants: ['fs:read:reports', 'smtp'] })
    const before = await events('risky')
    const refused = await grant('risky', 'network:news.example.com')
    expect([refused.status, refused.body.error]).toEqual([
      409,
      {
        code: 'ILLEGAL_TRANSITION',
        origin: 'registry',
        effect: 'none',
        next: 'fix_input',
        message:
          'With this grant risky holds private data (fs:read:reports), untrusted content (network:news.example.com), a way out (smtp, network:news.example.com): what it reads from strangers may make it send out what is private.',
        hint: expect.stringContaining('--accept-risk'),
        details: [
          { path: '/accept_risk', rule: 'tag_classes', expected: 'private_data', got: 'fs:read:reports' },
          { path: '/accept_risk', rule: 'tag_classes', expected: 'untrusted_content', got: 'network:news.example.com' },
          { path: '/accept_risk', rule: 'tag_classes', expected: 'way_out', got: 'smtp, network:news.example.com' },
        ],
      },
    ])
    expect([await held('risky'), await events('risky')]).toEqual([['fs:read:reports', 'smtp'], before])
  })
  it('201: is given to who accepts the risk, with a warning, and the audit event says so', async () => {
    const given = await grant('risky', 'network:news.example.com', { accept_risk: true })
    const [warning] = given.body.meta.warnings
    expect([given.status, given.body.meta.warnings.length, warning?.code]).toEqual([201, 1, 'all_tag_classes'])
    const [event] = await events('risky')
    expect([event.action, event.reason, event.after.pattern, event.after.accepted_risk]).toEqual([
      'grant.create',
      'a test grants it',
      'network:news.example.com',
      [warning?.message],
    ])
    expect(await explained('risky')).toEqual([
      'private_data: fs:read:reports',
      'untrusted_content: network:news.example.com',
      'way_out: smtp network:news.example.com',
    ])
    const next = await grant('risky', 'orders:read')
    expect([next.status, next.body.meta.warnings]).toEqual([201, []])
  })
  it('201: is none where a denial takes a class away, where one has run out, and for two of the three', async () => {
    await registry.agent('careful', { grants: ['network:news.example.com'] })
    await grant('careful', 'fs:read', { deny: true })
    expect((await grant('careful', 'fs:read')).status).toBe(201)
    const soon = new Date(registry.deps.clock.now().getTime() + 60_000).toISOString()
    await registry.agent('brief')
    await grant('brief', 'fs:read', { expires_at: soon })
    expect((await grant('brief', 'network')).status).toBe(409)
    registry.advance(61_000)
    expect((await grant('brief', 'network')).status).toBe(201)
    expect(await explained('brief')).toEqual(['untrusted_content: network', 'way_out: network'])
    await registry.agent('two', { grants: ['smtp'] })
    expect((await grant('two', '*')).status).toBe(201)
  })
  it('200: a denial that is taken back is warned of, in the answer and in the audit event', async () => {
    const { items } = (await registry.send('GET', '/v1/agents/careful/grants')).body.data
    const denial = items.find((item: Data) => item.deny)
    const removed = await registry.send('DELETE', `/v1/agents/careful/grants/${denial.id}`)
    const [warning] = removed.body.meta.warnings
    expect([removed.status, removed.body.data, warning?.code]).toEqual([200, { id: denial.id, removed: true }, 'all_tag_classes'])
    expect((await events('careful'))[0].after).toEqual({ grant_id: denial.id, risk: [warning?.message] })
  })
  it('is refused to the second of two that come at once', async () => {
    await registry.agent('hasty')
    let asked: Promise<Reply[]> = Promise.resolve([])
    // Nobody commits while the revision is held: each has looked at what the agent holds by then, if it may.
    await registry.sql.begin(async (sql) => {
      await sql`select revision from installation for update`
      asked = Promise.all([grant('hasty', 'fs:read'), grant('hasty', 'network')])
      const waiting = async (): Promise<unknown> =>
        (
          await registry.sql`select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
        )[0]
      await expect.poll(waiting, { timeout: 1500 }).toEqual({ count: 2 })
    })
    expect((await asked).map((reply) => reply.status).sort()).toEqual([201, 409])
  })
  it('is judged by the classes of the operator', async () => {
    const own = await openTestRegistry({
      settings: {
        ...registry.deps.settings,
        tagClasses: TagClasses.parse({ private_data: ['orders:*'], untrusted_content: ['inbox'] }),
      },
    })
    await own.agent('desk', { grants: ['inbox', 'smtp', 'fs:read'] })
    const body = { pattern: 'orders:read', reason: 'a test grants it' }
    expect((await own.send('POST', '/v1/agents/desk/grants', { body })).body.error?.code).toBe('ILLEGAL_TRANSITION')
    await own.close()
  })
})
