import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRolloutClient, reason, said, type RolloutClient } from './support/rollout-client.ts'
import type { Data } from './support/test-client.ts'

let registry: RolloutClient['registry']
let keys: RolloutClient['keys']
let post: RolloutClient['post']
let start: RolloutClient['start']
let getFor: RolloutClient['getFor']
let skill: RolloutClient['skill']
beforeAll(async () => {
  ;({ registry, keys, post, start, getFor, skill } = await openRolloutClient())
})
afterAll(() => registry.close())

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
  it('404 NO_MATCHING_VERSION and 410 VERSION_WITHDRAWN: a skill of which everything was withdrawn says why', async () => {
    await skill('all-gone', ['1.0.0'])
    await post('skills/all-gone/versions/1.0.0/block', {}, { match: null })
    const key = keys.get('vip') ?? ''
    const ranged = await registry.send('GET', '/v1/skills/all-gone?range=%5E1', { key })
    const pinned = await registry.send('GET', '/v1/skills/all-gone?range=1.0.0', { key })
    expect([ranged.body.error?.code, ranged.body.error?.hint, pinned.status, pinned.body.error?.code]).toEqual([
      'NO_MATCHING_VERSION',
      '1.0.0 was blocked: a test tries it',
      410,
      'VERSION_WITHDRAWN',
    ])
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
