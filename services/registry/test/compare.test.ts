import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewCallRow } from '../src/stored.ts'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import { at, rowAt, writeRows } from './support/written-rows.ts'

let registry: TestRegistry
let [agent, owner, stranger, rollout] = ['', '', '', '']
const ask = async (path: string, key?: string): Promise<Reply> =>
  registry.send('GET', `/v1/stats/${path}`, key === undefined ? {} : { key })
const data = async (path: string, key?: string): Promise<Data> => {
  const reply = await ask(path, key)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.body.data
}
const code = async (path: string, key?: string): Promise<unknown> => (await ask(path, key)).body.error?.code
const write = (rows: readonly NewCallRow[]): Promise<void> => writeRows(registry, rows)

beforeAll(async () => {
  registry = await openTestRegistry()
  agent = await registry.agent('worker')
  owner = await registry.agent('owner', { role: 'publisher', team: 'shop' })
  stranger = await registry.agent('stranger', { role: 'publisher', team: 'others' })
  for (const version of ['1.0.0', '1.1.0']) {
    const files = {
      'SKILL.md': `---\nname: look-up\nversion: ${version}\ndescription: Looks up.\npermission: []\neffects: read\n---\nx\n`,
    }
    await registry.send('POST', '/v1/skills', { key: owner, body: { files } })
  }
  await registry.release('look-up', '1.0.0')
  const started = await registry.send('POST', '/v1/skills/look-up/rollouts', {
    headers: { 'if-match': '*' },
    body: { version: '1.1.0', percent: 50, force: true, reason: 'a test tries it' },
  })
  rollout = started.body.data.id
  const lookUp = { skill: 'look-up', version: '1.0.0' }
  await write([
    ...Array.from({ length: 100 }, (_, index) => rowAt(5, { ...lookUp, agent_id: `a${index % 50}` })),
    ...Array.from({ length: 3 }, () => rowAt(5, { ...lookUp, agent_id: 'a1', outcome: 'invalid_input', error_code: 'INVALID_INPUT' })),
    ...Array.from({ length: 40 }, () =>
      rowAt(5, { ...lookUp, agent_id: 'worker', version: '1.1.0', outcome: 'timeout', error_code: 'TIMEOUT' }),
    ),
    ...Array.from({ length: 5 }, () => rowAt(5, { ...lookUp, agent_id: 'worker', outcome: 'denied', error_code: 'PERMISSION_DENIED' })),
  ])
})
afterAll(() => registry.close())

describe('GET /v1/stats/compare', () => {
  const arms = (arm: string, fails: (unit: number) => boolean): NewCallRow[] =>
    Array.from({ length: 90 }, (_, index) => {
      const unit = Math.floor(index / 3)
      const version = arm === 'canary' ? '1.1.0' : '1.0.0'
      const ended = fails(unit) ? { outcome: 'executor_error', error_code: 'EXECUTOR_FAILED' } : {}
      return rowAt(3, {
        agent_id: `${arm}${unit}`,
        skill: 'compared',
        version,
        rollout_id: rollout,
        arm,
        unit_kind: 'agent',
        unit_hash: `${arm}${unit}`,
        total_ms: arm === 'canary' ? 300 + unit : 100 + unit,
        ...ended,
      })
    })
  it('200: a rollout is compared at its unit, and the candidate that fails more is found out', async () => {
    expect(await data(`compare?rollout=${rollout}`)).toMatchObject({
      a: { units: 0 },
      failure_rate: { verdict: 'too_few_units', low: null },
    })
    await write([...arms('stable', () => false), ...arms('canary', (unit) => unit % 2 === 0)])
    expect(await data(`compare?rollout=${rollout}`)).toMatchObject({
      by: 'rollout',
      randomised: true,
      unit: 'agent',
      a: { arm: 'stable', version: '1.0.0', units: 30, calls: 90, failures: 0, failure_rate: 0 },
      b: { arm: 'canary', version: '1.1.0', units: 30, calls: 90, failures: 45, failure_rate: 0.5 },
      failure_rate: { difference: 0.5, verdict: 'higher' },
      mean_ms: { difference: 200, verdict: 'higher' },
      units_in_both: 0,
      confidence: 0.95,
    })
  })
  it('200: where every call is a unit, calls are counted', async () => {
    await registry.sql`delete from rollout_units`
    await write(
      Array.from({ length: 60 }, (_, index) =>
        rowAt(3, {
          skill: 'compared',
          version: '1.0.0',
          rollout_id: rollout,
          arm: index % 2 === 0 ? 'stable' : 'canary',
          unit_kind: 'call',
          unit_hash: `c${index}`,
          total_ms: index,
        }),
      ),
    )
    expect(await data(`compare?rollout=${rollout}`)).toMatchObject({
      a: { units: 30, calls: 30, mean_ms: 29 },
      b: { units: 30, mean_ms: 30 },
      mean_ms: { difference: 1, verdict: 'no_difference_seen' },
    })
  })
  it('200: two versions are compared by the agents that called them, which nobody drew', async () => {
    const found = await data(`compare?skill=look_up&a=1.0.0&b=1.1.0&from=${at(40)}`, owner)
    expect(found).toMatchObject({
      by: 'versions',
      randomised: false,
      unit: 'agent',
      a: { units: 50, failures: 3 },
      b: { units: 1, failures: 40 },
      failure_rate: { verdict: 'too_few_units' },
    })
  })
  it('refuses what is no comparison, and who may not compare', async () => {
    expect(await code('compare')).toBe('INVALID_REQUEST')
    expect(await code(`compare?rollout=${rollout}&skill=look-up`)).toBe('INVALID_REQUEST')
    expect(await code('compare?skill=look-up&a=1.0.0&b=1.0.0')).toBe('INVALID_REQUEST')
    expect(await code('compare?skill=absent&a=1.0.0&b=1.1.0')).toBe('SKILL_NOT_FOUND')
    expect(await code('compare?rollout=none')).toBe('NOT_FOUND')
    expect([await code(`compare?rollout=${rollout}`, agent), await code('compare?skill=look-up&a=1.0.0&b=1.1.0', agent)]).toEqual([
      'ROLE_REQUIRED',
      'ROLE_REQUIRED',
    ])
    expect([await code(`compare?rollout=${rollout}`, stranger), await code('compare?skill=look-up&a=1.0.0&b=1.1.0', stranger)]).toEqual([
      'NOT_FOUND',
      'ROLE_REQUIRED',
    ])
  })
})
