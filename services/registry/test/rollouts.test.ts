import { bucketOf } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRolloutClient, said, type RolloutClient } from './support/rollout-client.ts'
import type { Data } from './support/test-client.ts'

let registry: RolloutClient['registry']
let post: RolloutClient['post']
let start: RolloutClient['start']
let getFor: RolloutClient['getFor']
let skill: RolloutClient['skill']
beforeAll(async () => {
  ;({ registry, post, start, getFor, skill } = await openRolloutClient())
})
afterAll(() => registry.close())

describe('POST /v1/skills/{name}/rollouts', () => {
  it('201: the share, the allowed and the denied get what the rules say, and nobody else moves', async () => {
    await skill('canary-one', ['1.2.4'], ['1.3.0'])
    const reply = await start('canary-one', { version: '1.3.0', percent: 33.33, allow: ['vip'], deny: ['bank'] })
    expect([reply.status, reply.body.data]).toEqual([
      201,
      expect.objectContaining({
        skill: 'canary-one',
        line: '1',
        version: '1.3.0',
        previous_stable: '1.2.4',
        state: 'running',
        percent: 33.33,
        unit: 'agent',
        possible: ['set-percent', 'pause', 'promote', 'rollback', 'cancel'],
        changed: true,
      }),
    ])
    const [{ salt }] = (await registry.sql`select salt from rollouts where id = ${reply.body.data.id}`) as unknown as [{ salt: string }]
    for (const agent of ['agent-1', 'agent-2', 'agent-3'])
      expect(await getFor(agent, 'canary-one')).toBe(bucketOf(salt, 'agent', agent) < 3333 ? '1.3.0 canary' : '1.2.4 stable')
    expect([await getFor('vip', 'canary-one'), await getFor('bank', 'canary-one'), await getFor('vip', 'canary-one', '~1.2')]).toEqual([
      '1.3.0 allow',
      '1.2.4 stable',
      '1.2.4 stable',
    ])
    expect((await registry.send('GET', `/v1/rollouts/${reply.body.data.id}`)).body.data.state).toBe('running')
    const list = await registry.send('GET', '/v1/rollouts?skill=canary_one&state=active')
    expect(list.body.data.items.map((item: Data) => item.id)).toEqual([reply.body.data.id])
  })
  it('201: another rollout of the same version chooses the same units again', async () => {
    await skill('same-units', ['1.0.0'], ['1.1.0'])
    const first = await start('same-units', { version: '1.1.0', percent: 50, force: true })
    await post(`rollouts/${first.body.data.id}/cancel`, {})
    await start('same-units', { version: '1.1.0', percent: 50, force: true })
    const salts =
      await registry.sql`select distinct salt from rollouts where candidate = '1.1.0' and skill_id = (select id from skills where name = 'same-units')`
    expect(salts).toHaveLength(1)
  })
  it('201: units are sessions and tenants where the rollout says so; without one, stable and a warning', async () => {
    await skill('by-session', ['1.0.0'], ['1.1.0'])
    await start('by-session', { version: '1.1.0', percent: 100, unit: 'session' })
    // 100 % is everybody, so half of them shows that the session decides.
    const id = (await registry.send('GET', '/v1/rollouts?skill=by-session')).body.data.items[0].id
    await post(`rollouts/${id}/set-percent`, { percent: 50 })
    const vias = new Set<string>()
    for (let n = 0; n < 20; n += 1) {
      const reply = await registry.send('GET', '/v1/skills/by-session?range=^1', { headers: { 'repertoire-session': `s-${n}` } })
      vias.add(reply.body.data.resolution.via)
    }
    expect([...vias].sort()).toEqual(['canary', 'stable'])
    const none = await registry.send('GET', '/v1/skills/by-session?range=^1')
    expect([none.body.data.version, none.body.meta.warnings.map((warning) => warning.code)]).toEqual(['1.0.0', ['no_sticky_key']])
  })
  it('400 INVALID_REQUEST: a percentage of 10 001, of three decimals, none, and steps that go down', async () => {
    await skill('bad-percent', ['1.0.0'], ['1.1.0'])
    const bodies = [
      { percent: 10_001 },
      { percent: 1.234 },
      { percent: -1 },
      {},
      { steps: [{ percent: 50, dwell: '1h' }, { percent: 25 }] },
      { percent: 50, steps: [{ percent: 25 }] },
      { percent: 5, start_at: 'tomorrow' },
      { percent: 5, steps: [{ percent: 25, dwell: '1 week' }] },
    ]
    for (const body of bodies)
      expect(said(await start('bad-percent', { version: '1.1.0', ...body })).slice(0, 2)).toEqual([400, 'INVALID_REQUEST'])
    expect((await start('bad-percent', { version: '1.1.0', percent: 10_001 })).body.error?.hint).toBe(
      'percent: a percentage is from 0 to 100',
    )
    expect(await registry.sql`select 1 from rollouts r join skills s on s.id = r.skill_id where s.name = 'bad-percent'`).toHaveLength(0)
  })
  it('403 ROLE_REQUIRED: publishers and agents start nothing', async () => {
    const publisher = await registry.agent('one-publisher', { role: 'publisher' })
    expect(said(await start('bad-percent', { version: '1.1.0', percent: 5 }, { key: publisher })).slice(0, 2)).toEqual([
      403,
      'ROLE_REQUIRED',
    ])
  })
  it('404 VERSION_NOT_FOUND, SKILL_NOT_FOUND and NOT_FOUND: an unknown version, skill, agent and connection', async () => {
    expect((await start('bad-percent', { version: '9.9.9', percent: 5 })).body.error?.code).toBe('VERSION_NOT_FOUND')
    expect((await start('no-such-skill', { version: '1.0.0', percent: 5 })).body.error?.code).toBe('SKILL_NOT_FOUND')
    const agent = await start('bad-percent', { version: '1.1.0', percent: 5, allow: ['nobody-here'] })
    expect([agent.status, agent.body.error?.message]).toEqual([404, 'There is no agent nobody-here to allow or deny.'])
    const front = 'permission: []\neffects: read\nexecutor:\n  kind: http\n  connection: not-there\n  method: GET\n  path: /x'
    await registry.publish({ name: 'by-http', front, files: {} })
    await registry.release('by-http', '1.0.0')
    await registry.publish({ name: 'by-http', version: '1.1.0', front, files: {} })
    const reply = await start('by-http', { version: '1.1.0', percent: 5, force: true })
    expect([reply.status, reply.body.error?.code, reply.body.error?.message]).toEqual([
      404,
      'NOT_FOUND',
      'by-http 1.1.0 calls through the connection not-there, which does not exist.',
    ])
  })
  it('409 ROLLOUT_ACTIVE: two on one line; another line is free', async () => {
    await skill('two-lines', ['1.0.0', '2.0.0'], ['1.1.0', '1.2.0', '2.1.0'])
    const unreached = await start('two-lines', { version: '1.1.0', percent: 100 })
    expect([unreached.body.error?.code, unreached.body.error?.message]).toEqual([
      'NO_UNITS',
      'No enabled agent may call two-lines 1.1.0 with a range that would choose it: 100 % of 0 agents is nobody.',
    ])
    const first = await start('two-lines', { version: '1.1.0', percent: 100, force: true })
    expect([first.status, (await start('two-lines', { version: '2.1.0', percent: 100 })).status]).toEqual([201, 201])
    const second = await start('two-lines', { version: '1.2.0', percent: 100 })
    expect(said(second)).toEqual([409, 'ROLLOUT_ACTIVE', `promote it, roll it back or cancel it first: it is ${first.body.data.id}`])
  })
  it('409 CANARY_UNREACHABLE: a pre-release reaches nobody', async () => {
    await skill('pre-release', ['1.2.0'], ['1.3.0-rc.1'])
    const reply = await start('pre-release', { version: '1.3.0-rc.1', percent: 50 })
    expect(said(reply)).toEqual([409, 'CANARY_UNREACHABLE', 'publish it as 1.3.0; a canary is a status, not a version string'])
  })
  it('409 NO_UNITS: a share that selects nobody is refused with the arithmetic; force and an allow-list override', async () => {
    await skill('nobody', ['1.0.0'], ['1.1.0'])
    const reply = await start('nobody', { version: '1.1.0', percent: 0.01 })
    expect(said(reply).slice(0, 2)).toEqual([409, 'NO_UNITS'])
    expect(reply.body.error?.message).toMatch(
      /^0\.01 % of 5 agents selects nobody: it takes buckets below 1 of 10000, and the lowest among them is \d+\./,
    )
    const dry = await start('nobody', { version: '1.1.0', percent: 0.01 }, { query: '?dry_run=true' })
    expect(dry.body.error?.code).toBe('NO_UNITS')
    const lowest = Number(/start with ([\d.]+) %/.exec(reply.body.error?.hint ?? '')?.[1])
    expect((await start('nobody', { version: '1.1.0', percent: lowest }, { query: '?dry_run=true' })).body.data.selected_units).toBe(1)
    expect((await start('nobody', { version: '1.1.0', percent: 0.01, force: true })).status).toBe(201)
  })
  it('409 ILLEGAL_TRANSITION and 410 VERSION_WITHDRAWN: only a candidate rolls out', async () => {
    await skill('done-already', ['1.0.0', '1.1.0'], ['1.2.0'])
    expect(said(await start('done-already', { version: '1.1.0', percent: 5 })).slice(0, 2)).toEqual([409, 'ILLEGAL_TRANSITION'])
    await post('skills/done-already/versions/1.2.0/block', {}, { match: null })
    expect(said(await start('done-already', { version: '1.2.0', percent: 5 })).slice(0, 2)).toEqual([410, 'VERSION_WITHDRAWN'])
  })
})

describe('If-Match', () => {
  it('428 PRECONDITION_REQUIRED where a choice is made, and not where something is taken away', async () => {
    await skill('careful', ['1.0.0', '1.0.1'], ['1.1.0', '1.2.0'])
    const none = { match: null }
    const started = await start('careful', { version: '1.1.0', percent: 100 })
    const { id } = started.body.data
    const refused = [
      await start('careful', { version: '1.2.0', percent: 5 }, none),
      await post('skills/careful/versions/1.2.0/release', {}, none),
      await post('skills/careful/versions/1.0.1/deprecate', {}, none),
      await post('skills/careful/versions/1.0.0/yank', {}, none),
      await post('skills/careful/versions/1.0.0/unyank', {}, none),
      await post('skills/careful/lines/1/revert', { to: '1.0.0' }, none),
      ...(await Promise.all(
        ['set-percent', 'resume', 'promote', 'cancel'].map((verb) =>
          post(`rollouts/${id}/${verb}`, verb === 'set-percent' ? { percent: 5 } : {}, none),
        ),
      )),
    ]
    expect(refused.map((reply) => [reply.status, reply.body.error?.code])).toEqual(refused.map(() => [428, 'PRECONDITION_REQUIRED']))
    expect((await post(`rollouts/${id}/pause`, {}, none)).status).toBe(200)
    expect((await post(`rollouts/${id}/rollback`, {}, none)).status).toBe(200)
    expect((await post('skills/careful/versions/1.2.0/block', {}, none)).status).toBe(200)
  })
  it('412 REVISION_MISMATCH says who changed what; the ETag of the skill, of its versions and of the rollout are good', async () => {
    await skill('watched', ['1.0.0'], ['1.1.0'])
    const etag = (await registry.send('GET', '/v1/skills/watched?range=^1')).headers.get('etag') ?? ''
    const started = await start('watched', { version: '1.1.0', percent: 100 }, { match: etag })
    expect(started.status).toBe(201)
    const { id } = started.body.data
    const stale = await post(`rollouts/${id}/promote`, {}, { match: etag })
    expect([stale.status, stale.body.error?.code, stale.body.error?.message]).toEqual([
      412,
      'REVISION_MISMATCH',
      expect.stringMatching(/^watched has changed since you read it: admin did rollout\.start of watched@1\.1\.0 at \d{4}-/),
    ])
    const fresh = (await registry.send('GET', `/v1/rollouts/${id}`)).headers.get('etag') ?? ''
    const versions = (await registry.send('GET', '/v1/skills/watched/versions')).headers.get('etag') ?? ''
    expect([fresh.split('.')[0], started.headers.get('etag')?.split('.')[0]]).toEqual([versions.split('.')[0], versions.split('.')[0]])
    expect((await post(`rollouts/${id}/set-percent`, { percent: 50 }, { match: fresh })).status).toBe(200)
    expect((await post(`rollouts/${id}/promote`, {}, { match: fresh })).status).toBe(412)
    expect((await post(`rollouts/${id}/promote`, {}, { match: 'nonsense' })).body.error?.code).toBe('INVALID_REQUEST')
    expect((await post(`rollouts/${id}/promote`, {}, { match: versions })).status).toBe(412)
  })
})
