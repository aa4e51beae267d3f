import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let reader: string
let caller: string
beforeAll(async () => {
  registry = await openTestRegistry()
  reader = await registry.agent('reader')
  caller = await registry.agent('caller')
  for (const version of ['1.0.0', '1.1.0']) {
    await registry.publish({ name: 'needed-one', version })
    await registry.release('needed-one', version)
  }
})
afterAll(() => registry.close())

const declare = (range: string, instance = 'default'): Promise<Reply> =>
  registry.send('PUT', '/v1/agents/self/requirements', {
    key: reader,
    body: { requires: { 'needed-one': range } },
    headers: { 'repertoire-instance': instance },
  })
const call = (key: string, range?: string): Promise<Reply> =>
  registry.send('POST', '/v1/skills/needed-one/calls', { key, body: { arguments: {}, ...(range === undefined ? {} : { range }) } })
const post = (path: string, body: object = {}): Promise<Reply> =>
  registry.send('POST', `/v1/${path}`, { headers: { 'if-match': '*' }, body: { reason: 'a test tries it', ...body } })

describe('GET /v1/skills/{name}/dependents', () => {
  it('200: declared ranges per instance, and ranges seen in calls, with what each gets now', async () => {
    await declare('~1.0')
    await declare('^2', 'canary-box')
    await call(reader)
    await call(caller, '^1')
    await call(caller, '^1')
    await call(caller, '1.0.0')
    const reply = await registry.send('GET', '/v1/skills/needed_one/dependents')
    const items = reply.body.data.items.map((item: Data) => [
      item.agent,
      item.instance,
      item.range,
      item.version,
      item.calls,
      item.versions,
    ])
    expect([reply.status, reply.body.data.skill, items]).toEqual([
      200,
      'needed-one',
      [
        ['caller', null, '^1', '1.1.0', 2, { '1.1.0': 2 }],
        ['caller', null, '1.0.0', '1.0.0', 1, { '1.0.0': 1 }],
        ['reader', 'default', '~1.0', '1.0.0', 1, { '1.0.0': 1 }],
        ['reader', 'canary-box', '^2', null, 0, {}],
      ],
    ])
    expect(reply.body.data.items[3].problem).toBe('No version of needed-one satisfies ^2.')
  })
  it('200: who gets a version that is on its way out is seen', async () => {
    await post('skills/needed-one/versions/1.0.0/deprecate', { replacement: '1.1.0' })
    const { items } = (await registry.send('GET', '/v1/skills/needed-one/dependents')).body.data
    expect(items.filter((item: Data) => item.status === 'deprecated').map((item: Data) => `${item.agent} ${item.range}`)).toEqual([
      'caller 1.0.0',
      'reader ~1.0',
    ])
  })
  it('200: several ranges of one call are told apart again', async () => {
    await registry.send('POST', '/v1/skills/needed-one/calls', {
      key: caller,
      headers: { 'repertoire-requires': 'needed-one@>=1.0.0 <3 || ^5' },
      body: { range: '^1.1', arguments: {} },
    })
    const { items } = (await registry.send('GET', '/v1/skills/needed-one/dependents')).body.data
    expect(items.find((item: Data) => item.range.includes('&'))).toEqual(
      expect.objectContaining({ range: '^1.1 & >=1.0.0 <3 || ^5', version: '1.1.0', calls: 1 }),
    )
  })
  it('200: a declaration that grew old leaves the list, and still binds', async () => {
    await registry.sql`update requirements set declared_at = now() - interval '100 days' where instance = 'canary-box'`
    const { items } = (await registry.send('GET', '/v1/skills/needed-one/dependents')).body.data
    expect(items.some((item: Data) => item.instance === 'canary-box')).toBe(false)
    const bound = await registry.send('GET', '/v1/skills/needed-one', { key: reader, headers: { 'repertoire-instance': 'canary-box' } })
    expect(bound.body.error?.code).toBe('NO_MATCHING_VERSION')
  })
  it('400, 403 and 404: a strange window, an agent, and no such skill', async () => {
    expect((await registry.send('GET', '/v1/skills/needed-one/dependents?days=0')).body.error?.code).toBe('INVALID_REQUEST')
    expect((await registry.send('GET', '/v1/skills/needed-one/dependents', { key: reader })).body.error?.code).toBe('ROLE_REQUIRED')
    expect((await registry.send('GET', '/v1/skills/nobody/dependents')).body.error?.code).toBe('SKILL_NOT_FOUND')
  })
})

describe('GET /v1/skills/{name}/resolution', () => {
  const at = async (agent: string, time?: string, more = ''): Promise<Data> => {
    const reply = await registry.send(
      'GET',
      `/v1/skills/looked-back/resolution?agent=${agent}${time === undefined ? '' : `&at=${encodeURIComponent(time)}`}${more}`,
    )
    return reply.body.data ?? reply.body.error
  }
  const moment = async (): Promise<string> => {
    await new Promise((resolve) => setTimeout(resolve, 15))
    const now = new Date().toISOString()
    await new Promise((resolve) => setTimeout(resolve, 15))
    return now
  }

  it('200: what an agent would have got before and after each step, whatever happened since', async () => {
    const never = await moment()
    await registry.publish({ name: 'looked-back', front: 'permission: [orders]\neffects: read' })
    await registry.release('looked-back', '1.0.0')
    await registry.send('POST', '/v1/agents/caller/grants', { body: { pattern: 'orders', reason: 'a test grants it' } })
    const first = await moment()
    await registry.send('POST', '/v1/skills/looked-back/calls', { key: caller, body: { range: '^1', arguments: {} } })
    await registry.publish({ name: 'looked-back', version: '1.1.0', front: 'permission: [orders]\neffects: read' })
    const { id } = (await post('skills/looked-back/rollouts', { version: '1.1.0', percent: 5, allow: ['caller'] })).body.data
    const canary = await moment()
    await post(`rollouts/${id}/promote`)
    const promoted = await moment()
    await post(`rollouts/${id}/rollback`)
    const back = await moment()
    await registry.send('PUT', '/v1/agents/self/requirements', { key: caller, body: { requires: { 'looked-back': '~1.1' } } })
    const declared = await moment()
    const said = async (time: string, agent = 'caller'): Promise<string> => {
      const found = await at(agent, time)
      return found.version === null ? found.problem.code : `${found.version} ${found.via}`
    }
    expect([
      await said(never),
      await said(first),
      await said(canary),
      await said(promoted),
      await said(back),
      await said(declared),
    ]).toEqual(['SKILL_NOT_FOUND', '1.0.0 stable', '1.1.0 allow', '1.1.0 stable', '1.0.0 stable', 'NO_MATCHING_VERSION'])
    // Who lacks the tag was not offered the candidate.
    expect(await said(canary, 'reader')).toBe('1.0.0 stable')
    const now = await at('caller', undefined, '&range=^1.0.0')
    expect([now.ranges, now.last_change.action, now.last_call.version, now.last_call.range]).toEqual([
      ['^1.0.0', '~1.1'],
      'rollout.rollback',
      '1.0.0',
      '^1',
    ])
    const then = await at('caller', canary)
    expect([then.stable, then.rollouts, then.last_change.action]).toEqual([
      { '1': '1.0.0' },
      [{ id, version: '1.1.0', state: 'running', percent: 5 }],
      'rollout.start',
    ])
  })
  it('400, 403 and 404: a time to come, an agent that asks, an unknown agent', async () => {
    expect((await at('caller', '2126-01-01T00:00:00Z')).code).toBe('INVALID_REQUEST')
    expect((await at('nobody')).code).toBe('NOT_FOUND')
    expect((await registry.send('GET', '/v1/skills/looked-back/resolution?agent=caller', { key: caller })).body.error?.code).toBe(
      'ROLE_REQUIRED',
    )
  })
  it('left no fault of ours', () => expect(registry.bugs).toEqual([]))
})
