import { bucketOf } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
const keys = new Map<string, string>()
beforeAll(async () => {
  registry = await openTestRegistry()
  for (const agent of ['agent-1', 'agent-2', 'agent-3', 'vip', 'bank']) keys.set(agent, await registry.agent(agent))
})
afterAll(() => registry.close())

const reason = 'a test tries it'
type Sending = { readonly match?: string | null; readonly query?: string; readonly key?: string }
const post = (path: string, body: object, { match = '*', query = '', key }: Sending = {}): Promise<Reply> =>
  registry.send('POST', `/v1/${path}${query}`, {
    body: { reason, ...body },
    headers: match === null ? {} : { 'if-match': match },
    ...(key === undefined ? {} : { key }),
  })
const start = (name: string, body: object, sending?: Sending): Promise<Reply> => post(`skills/${name}/rollouts`, body, sending)
const getFor = async (agent: string, name: string, range = '^1'): Promise<Data> => {
  const reply = await registry.send('POST', '/v1/resolve', { key: keys.get(agent) ?? '', body: { requires: { [name]: range } } })
  const found = reply.body.data.resolved[name]
  return found.version === undefined ? found.error.code : `${found.version} ${found.via}`
}
/** A skill with released versions, and candidates. */
const skill = async (name: string, released: readonly string[], candidates: readonly string[] = []): Promise<void> => {
  for (const version of [...released, ...candidates]) {
    expect((await registry.publish({ name, version })).status).toBe(201)
    if (released.includes(version)) expect((await registry.release(name, version)).status).toBe(200)
  }
}
const said = (reply: Reply): unknown[] => [reply.status, reply.body.error?.code, reply.body.error?.hint]

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

describe('commands on a rollout', () => {
  it('200: promote serves the candidate to everybody; what it replaced is kept', async () => {
    await skill('promoted', ['1.0.0'], ['1.1.0'])
    const { id } = (await start('promoted', { version: '1.1.0', percent: 10, force: true })).body.data
    const reply = await post(`rollouts/${id}/promote`, {})
    expect([reply.body.data.state, reply.body.data.previous_stable, reply.body.data.possible]).toEqual(['promoted', '1.0.0', ['rollback']])
    expect(await getFor('bank', 'promoted')).toBe('1.1.0 stable')
  })
  it('200: a rollback after the promotion serves what it replaced and yanks the candidate; again it changes nothing', async () => {
    const { id } = (await registry.send('GET', '/v1/rollouts?skill=promoted')).body.data.items[0]
    const reply = await post(`rollouts/${id}/rollback`, {}, { match: null })
    expect([reply.body.data.state, reply.body.data.changed, await getFor('bank', 'promoted')]).toEqual([
      'rolled_back',
      true,
      '1.0.0 stable',
    ])
    const again = await post(`rollouts/${id}/rollback`, {}, { match: null })
    expect([again.status, again.body.data.changed]).toEqual([200, false])
    const pinned = await registry.send('GET', '/v1/skills/promoted?range=1.1.0')
    expect([pinned.body.data.status, pinned.body.meta.warnings.map((warning) => warning.code)]).toEqual(['yanked', ['yanked']])
  })
  it('200: pause keeps the share, resume goes on, cancel leaves the candidate one', async () => {
    await skill('paused', ['1.0.0'], ['1.1.0'])
    const { id } = (await start('paused', { version: '1.1.0', percent: 100 })).body.data
    const paused = await post(`rollouts/${id}/pause`, {}, { match: null })
    expect([paused.body.data.state, paused.body.data.paused_reason, await getFor('bank', 'paused')]).toEqual([
      'paused',
      'manual',
      '1.1.0 canary',
    ])
    expect((await post(`rollouts/${id}/pause`, {}, { match: null })).body.data.changed).toBe(false)
    expect(said(await post(`rollouts/${id}/set-percent`, { percent: 50 }))).toEqual([
      409,
      'ILLEGAL_TRANSITION',
      'possible now: resume, promote, rollback, cancel',
    ])
    expect((await post(`rollouts/${id}/resume`, {})).body.data.state).toBe('running')
    expect((await post(`rollouts/${id}/cancel`, {})).body.data.state).toBe('cancelled')
    expect(await getFor('bank', 'paused')).toBe('1.0.0 stable')
    const versions = (await registry.send('GET', '/v1/skills/paused/versions')).body.data.items
    expect(versions.map((item: Data) => [item.version, item.status, item.stable])).toEqual([
      ['1.1.0', 'candidate', false],
      ['1.0.0', 'released', true],
    ])
    expect(said(await post(`rollouts/${id}/promote`, {}))).toEqual([409, 'ILLEGAL_TRANSITION', 'it has ended: start a new rollout'])
    expect((await post(`rollouts/${id}/rollback`, {}, { match: null })).body.data.changed).toBe(false)
  })
  it('404 NOT_FOUND: no such rollout', async () => {
    expect((await post('rollouts/01980000-0000-7000-8000-000000000000/promote', {})).body.error?.code).toBe('NOT_FOUND')
    expect((await post('rollouts/nonsense/rollback', {})).body.error?.code).toBe('NOT_FOUND')
    expect((await registry.send('GET', '/v1/rollouts/nonsense')).body.error?.code).toBe('NOT_FOUND')
  })
  it('409 ILLEGAL_TRANSITION: a rollback names revert when something newer is stable', async () => {
    await skill('overtaken', ['1.0.0'], ['1.1.0', '1.2.0'])
    const { id } = (await start('overtaken', { version: '1.1.0', percent: 100 })).body.data
    await post(`rollouts/${id}/promote`, {})
    await post('skills/overtaken/versions/1.2.0/release', {})
    const reply = await post(`rollouts/${id}/rollback`, {}, { match: null })
    expect([reply.body.error?.code, reply.body.error?.hint]).toEqual([
      'ILLEGAL_TRANSITION',
      'revert the line to a version, or yank 1.1.0 alone: repertoire revert overtaken --line 1 --to VERSION',
    ])
  })
  it('every change has its audit event, with the reason and what changed; a refused one has none', async () => {
    const events = await registry.sql`select action, caller, reason, subject, change from audit_events where skill = 'paused' order by seq`
    expect(events.map((event) => event['action'])).toEqual([
      'version.publish',
      'version.release',
      'version.publish',
      'rollout.start',
      'rollout.pause',
      'rollout.resume',
      'rollout.cancel',
    ])
    expect(
      events.slice(3).every((event) => event['reason'] === reason && event['caller'] === 'admin' && event['change'].rollouts.length === 1),
    ).toBe(true)
  })
})

describe('commands on versions and lines', () => {
  it('200: deprecate is neutral, and says so in headers, warnings and the list', async () => {
    await skill('leaving', ['1.0.0', '2.0.0'])
    const reply = await post('skills/leaving/versions/1.0.0/deprecate', { sunset: '2027-06-30', replacement: '2.0.0' })
    expect([reply.status, reply.body.data.status, reply.body.data.stable]).toEqual([200, 'deprecated', '1.0.0'])
    const skillReply = await registry.send('GET', '/v1/skills/leaving?range=^1')
    expect([
      skillReply.body.data.version,
      skillReply.body.data.replacement,
      skillReply.headers.get('sunset'),
      skillReply.headers.get('link'),
    ]).toEqual(['1.0.0', '2.0.0', 'Wed, 30 Jun 2027 00:00:00 GMT', '</v1/skills/leaving/versions/2.0.0>; rel="successor-version"'])
    expect(skillReply.headers.get('deprecation')).toMatch(/^@\d{10}$/)
    const call = await registry.send('POST', '/v1/skills/leaving/calls', { body: { range: '^1', arguments: {} } })
    expect([call.headers.get('sunset'), call.body.meta.warnings[0]?.code, 'leaving' in call.body.meta]).toEqual([
      'Wed, 30 Jun 2027 00:00:00 GMT',
      'deprecated',
      false,
    ])
    const other = await registry.send('GET', '/v1/skills/leaving?range=^2')
    expect([other.headers.get('deprecation'), other.headers.get('sunset'), other.headers.get('link')]).toEqual([null, null, null])
  })
  it('200: yank lets the line fall back, unyank gives the status back and serves nothing by itself', async () => {
    await skill('yanked', ['1.0.0', '1.1.0'])
    const reply = await post('skills/yanked/versions/1.1.0/yank', {})
    expect([reply.body.data.stable, reply.body.data.previous_stable, await getFor('vip', 'yanked')]).toEqual([
      '1.0.0',
      '1.1.0',
      '1.0.0 stable',
    ])
    expect((await post('skills/yanked/versions/1.1.0/yank', {})).body.data.changed).toBe(false)
    const back = await post('skills/yanked/versions/1.1.0/unyank', {})
    expect([back.body.data.status, back.body.data.stable, await getFor('vip', 'yanked')]).toEqual(['released', '1.0.0', '1.0.0 stable'])
    await post('skills/yanked/versions/1.1.0/release', {})
    expect(await getFor('vip', 'yanked')).toBe('1.1.0 stable')
    expect(said(await post('skills/yanked/versions/1.1.0/unyank', {}))).toEqual([
      409,
      'ILLEGAL_TRANSITION',
      'possible now: deprecate, yank, block',
    ])
  })
  it('200: block is final, for pins too', async () => {
    await skill('blocked', ['1.0.0', '1.1.0'])
    await post('skills/blocked/versions/1.1.0/block', { replacement: '1.0.0' }, { match: null })
    const pinned = await registry.send('GET', '/v1/skills/blocked?range=1.1.0')
    expect([pinned.status, pinned.body.error?.code, pinned.body.error?.message]).toEqual([
      410,
      'VERSION_WITHDRAWN',
      'blocked 1.1.0 was blocked: a test tries it. Use 1.0.0 instead.',
    ])
    expect(said(await post('skills/blocked/versions/1.1.0/unyank', {}))).toEqual([409, 'ILLEGAL_TRANSITION', 'publish a new version'])
    expect((await post('skills/blocked/versions/1.0.0/yank', { replacement: '1.1.0' })).body.error?.code).toBe('INVALID_REQUEST')
  })
  it('200: yanking or blocking the candidate of a rollout rolls it back', async () => {
    await skill('ends-with', ['1.0.0'], ['1.1.0'])
    const { id } = (await start('ends-with', { version: '1.1.0', percent: 100 })).body.data
    const reply = await post('skills/ends-with/versions/1.1.0/yank', {})
    expect([
      reply.body.data.rollouts,
      (await registry.send('GET', `/v1/rollouts/${id}`)).body.data.state,
      await getFor('vip', 'ends-with'),
    ]).toEqual([[id], 'rolled_back', '1.0.0 stable'])
  })
  it('200: revert yanks what it steps over and ends what is above, so that nothing comes back with the next promotion', async () => {
    await skill('revert-me', ['1.2.4', '1.3.0', '1.4.0'], ['1.5.0'])
    const { id } = (await start('revert-me', { version: '1.5.0', percent: 100 })).body.data
    const reply = await post('skills/revert-me/lines/1/revert', { to: '1.2.4' })
    expect([reply.body.data.stable, reply.body.data.previous_stable, reply.body.data.yanked, reply.body.data.rollouts]).toEqual([
      '1.2.4',
      '1.4.0',
      ['1.3.0', '1.4.0', '1.5.0'],
      [id],
    ])
    expect([await getFor('vip', 'revert-me', '^1.2'), await getFor('vip', 'revert-me', '~1.3')]).toEqual([
      '1.2.4 stable',
      'NO_MATCHING_VERSION',
    ])
    await skill('revert-me', ['1.6.0'])
    expect([await getFor('vip', 'revert-me'), await getFor('vip', 'revert-me', '<1.6')]).toEqual(['1.6.0 stable', '1.2.4 stable'])
  })
  it('409 ILLEGAL_TRANSITION and 404 VERSION_NOT_FOUND: a revert goes down its own line, to what can be served', async () => {
    await skill('not-up', ['1.0.0', '1.1.0', '2.0.0'])
    await post('skills/not-up/lines/1/revert', { to: '1.0.0' })
    expect(said(await post('skills/not-up/lines/1/revert', { to: '1.1.0' }))).toEqual([409, 'ILLEGAL_TRANSITION', 'unyank it first'])
    expect((await post('skills/not-up/lines/1/revert', { to: '2.0.0' })).body.error?.code).toBe('VERSION_NOT_FOUND')
    expect((await post('skills/not-up/lines/1/revert', { to: '1.0.0' })).body.data.changed).toBe(false)
  })
})

describe('?dry_run=true', () => {
  it('200: says who moves, who would be denied, who gets nothing and which pins stay, and writes nothing', async () => {
    await registry.publish({ name: 'preview', version: '1.0.0' })
    await registry.release('preview', '1.0.0')
    await registry.publish({ name: 'preview', version: '1.1.0', front: 'permission: [orders]\neffects: read' })
    await registry.send('POST', '/v1/agents/vip/grants', { body: { pattern: 'orders', reason: 'a test grants it' } })
    for (const [agent, range] of [
      ['agent-1', '^1.1'],
      ['agent-2', '1.0.0'],
      ['vip', '^1'],
    ] as const)
      await registry.send('PUT', '/v1/agents/self/requirements', { key: keys.get(agent) ?? '', body: { requires: { preview: range } } })
    await registry.send('POST', '/v1/skills/preview/calls', { key: keys.get('agent-3') ?? '', body: { range: '~1.0', arguments: {} } })
    await registry.send('POST', '/v1/skills/preview/calls', { key: keys.get('vip') ?? '', body: { arguments: {} } })
    const before = (await registry.send('GET', '/v1/skills/preview/versions')).headers.get('etag')
    const unnamed = await post('skills/preview/versions/1.1.0/release', {}, { query: '?dry_run=true', match: null })
    expect([unnamed.status, unnamed.body.error?.code, unnamed.body.error?.message]).toEqual([
      409,
      'ILLEGAL_TRANSITION',
      'preview 1.1.0 needs orders, which 1.0.0 does not: agents without it would be denied.',
    ])
    const named = { accept_tags: ['orders'] }
    const reply = await post('skills/preview/versions/1.1.0/release', named, { query: '?dry_run=true', match: null })
    const { would_move: move, would_be_denied: denied, unreachable, exact_pins_not_moved: pins } = reply.body.data
    const say = (entries: Data[]): string[] =>
      entries.map((entry) => `${entry.agent} ${entry.range} ${entry.from} ${entry.to} ${entry.calls_7d}`).sort()
    expect(say(move)).toEqual(['vip ^1 1.0.0 1.1.0 1'])
    expect(say(denied)).toEqual(['agent-1 ^1.1 null 1.1.0 0', 'agent-3 * 1.0.0 1.1.0 0', 'bank * 1.0.0 1.1.0 0'])
    expect([say(unreachable), say(pins)]).toEqual([[], ['agent-2 1.0.0 1.0.0 1.0.0 0']])
    expect(reply.body.data.versions).toEqual([{ version: '1.1.0', from: 'candidate', to: 'released' }])
    expect(reply.body.data.lines).toEqual([{ line: '1', from: '1.0.0', to: '1.1.0' }])
    expect((await registry.send('GET', '/v1/skills/preview/versions')).headers.get('etag')).toBe(before)
    expect(reply.headers.get('etag')?.split('.')[0]).toBe(before?.split('.')[0])
  })
  it('200: a start says how many units it selects, and the start selects exactly those', async () => {
    await skill('preview-start', ['1.0.0'], ['1.1.0'])
    const body = { version: '1.1.0', percent: 60 }
    const dry = await start('preview-start', body, { query: '?dry_run=true' })
    expect([dry.status, dry.body.data.population, dry.body.data.selected_units]).toEqual([200, 5, dry.body.data.would_move.length])
    const moved = dry.body.data.would_move.map((entry: Data) => entry.agent).sort()
    await start('preview-start', body)
    const got: string[] = []
    for (const agent of keys.keys()) if ((await getFor(agent, 'preview-start')) === '1.1.0 canary') got.push(agent)
    expect(got.sort()).toEqual(moved)
  })
  it('200: a rollback shows who would be left with nothing, and which pins will not move', async () => {
    await skill('preview-back', ['1.0.0'], ['1.1.0'])
    const { id } = (await start('preview-back', { version: '1.1.0', percent: 100 })).body.data
    await registry.send('PUT', '/v1/agents/self/requirements', {
      key: keys.get('agent-1') ?? '',
      body: { requires: { 'preview-back': '^1.1' } },
    })
    await registry.send('POST', '/v1/skills/preview-back/calls', { body: { range: '1.1.0', arguments: {} } })
    const reply = await post(`rollouts/${id}/rollback`, {}, { query: '?dry_run=true', match: null })
    const { unreachable, exact_pins_not_moved: pins, would_move: move } = reply.body.data
    expect(unreachable.map((entry: Data) => [entry.agent, entry.range, entry.from])).toEqual([['agent-1', '^1.1', '1.1.0']])
    expect(pins.map((entry: Data) => [entry.agent, entry.range, entry.calls_7d])).toEqual([['admin', '1.1.0', 1]])
    expect(move.map((entry: Data) => entry.to)).toEqual(['1.0.0', '1.0.0', '1.0.0', '1.0.0'])
    expect((await registry.send('GET', `/v1/rollouts/${id}`)).body.data.state).toBe('running')
  })
  it('refuses what the command itself would refuse', async () => {
    const promoted = (await registry.send('GET', '/v1/rollouts?skill=overtaken')).body.data.items[0]
    expect((await post(`rollouts/${promoted.id}/promote`, {}, { query: '?dry_run=true' })).body.error?.code).toBe('ILLEGAL_TRANSITION')
    expect(
      (await post('skills/preview/versions/1.1.0/release', { accept_tags: ['orders'] }, { query: '?dry_run=true', match: '"1.x"' })).body
        .error?.code,
    ).toBe('REVISION_MISMATCH')
  })
  it('no fault of ours came up in all of this', () => expect(registry.bugs).toEqual([]))
})
