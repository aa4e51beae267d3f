import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRolloutClient, type RolloutClient } from './support/rollout-client.ts'
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
    await skill('ended-one', ['1.0.0'], ['1.1.0'])
    const promoted = (await start('ended-one', { version: '1.1.0', percent: 100 })).body.data
    await post(`rollouts/${promoted.id}/promote`, {})
    expect((await post(`rollouts/${promoted.id}/promote`, {}, { query: '?dry_run=true' })).body.error?.code).toBe('ILLEGAL_TRANSITION')
    expect(
      (await post('skills/preview/versions/1.1.0/release', { accept_tags: ['orders'] }, { query: '?dry_run=true', match: '"1.x"' })).body
        .error?.code,
    ).toBe('REVISION_MISMATCH')
  })
  it('no fault of ours came up in all of this', () => expect(registry.bugs).toEqual([]))
})
