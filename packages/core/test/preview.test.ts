import {
  applyPlan,
  countUnits,
  parseRange,
  planBlock,
  planRevert,
  planYank,
  previewImpact,
  requireUnits,
  type AgentRecord,
  type Requester,
  type RolloutRecord,
} from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { after, facts, order, withVersions } from './lifecycle-fixture.ts'
import { rolloutOf, skillOf } from './skill-fixture.ts'

const agent = (id: string, more: Partial<AgentRecord> = {}): AgentRecord => ({
  id,
  name: id,
  role: 'agent',
  team: null,
  tenant: null,
  domains: [],
  disabled: false,
  grants: [],
  ...more,
})
const holding = (id: string, pattern: string): AgentRecord =>
  agent(id, { grants: [{ id: 'g', agentId: id, pattern, deny: false, expiresAt: null }] })
const asks = (range: string, who: AgentRecord = agent('a'), calls = 0): Requester => ({
  agent: who,
  range,
  ranges: range.split(' & ').map(parseRange),
  calls,
})

describe('what a plan would do', () => {
  const skill = withVersions()
  const guarded = skillOf({
    versions: [{ version: '1.0.0' }, { version: '1.1.0', permission: ['orders:read'] }, { version: '1.2.0' }],
    stable: { '1': '1.2.0' },
  })
  it('lists who moves, from what to what, with its calls', () => {
    const next = applyPlan(skill, planRevert(facts(skill), { line: '1', to: '1.1.0' }, order))
    const requesters = [asks('^1', agent('a'), 12), asks('~1.1', agent('b'))]
    expect(previewImpact(skill, next, { requesters, nowMs: 0 })).toEqual({
      wouldMove: [{ agent: 'a', range: '^1', from: '1.2.0', to: '1.1.0', calls: 12, reason: null }],
      wouldBeDenied: [],
      unreachable: [],
      exactPinsNotMoved: [],
    })
  })
  it('lists the exact pins that would not move, since ranges alone leave a yanked version', () => {
    const next = applyPlan(skill, planYank(facts(skill), { version: '1.2.0' }, order))
    const impact = previewImpact(skill, next, { requesters: [asks('1.2.0'), asks('^1 & 1.2.0'), asks('^1.2')], nowMs: 0 })
    expect(impact.exactPinsNotMoved.map(({ range, to }) => [range, to])).toEqual([
      ['1.2.0', '1.2.0'],
      ['^1 & 1.2.0', '1.2.0'],
    ])
    expect(impact.unreachable.map(({ range, from, reason }) => [range, from, reason])).toEqual([
      ['^1.2', '1.2.0', 'No version of skill satisfies ^1.2.'],
    ])
  })
  it('lists the pins that a block takes away', () => {
    const next = applyPlan(skill, planBlock(facts(skill), { version: '1.2.0' }, order))
    const impact = previewImpact(skill, next, { requesters: [asks('1.2.0')], nowMs: 0 })
    expect([impact.exactPinsNotMoved, impact.unreachable[0]?.reason]).toEqual([[], 'skill 1.2.0 was blocked: a test orders it.'])
  })
  it('lists who would be denied, and not who is denied already', () => {
    const next = after(guarded, 'revert 1.1.0')
    const requesters = [asks('^1'), asks('^1', holding('b', 'orders:*')), asks('~1.1', agent('c'))]
    const impact = previewImpact(guarded, next, { requesters, nowMs: 0 })
    expect(impact.wouldBeDenied.map(({ agent: name, to, reason }) => [name, to, reason])).toEqual([['a', '1.1.0', 'lacks orders:read']])
    expect(impact.wouldMove.map(({ agent: name }) => name)).toEqual(['b'])
  })
})

describe('the units of a rollout', () => {
  const rollout = (said: Partial<RolloutRecord>): RolloutRecord => rolloutOf({ previousStable: '1.2.0', ...said })
  const names = Array.from({ length: 8 }, (_, n) => `agent-${n}`)
  const requesters = names.map((name, n) => asks('^1', agent(name, { tenant: n < 6 ? `tenant-${n % 2}` : null })))
  const count = (said: Partial<RolloutRecord>, among = requesters, skill = withVersions()): ReturnType<typeof countUnits> =>
    countUnits(skill, rollout(said), { requesters: among, nowMs: 0 })

  it('are agents, each once, whatever it declares', () => {
    const { population, selected, buckets } = count({ basisPoints: 10_000 }, [...requesters, asks('>=1.2', agent('agent-0'))])
    expect([population, selected, buckets.length]).toEqual([8, 8, 8])
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
    expect(count({ basisPoints: 5000 }).selected).toBe(buckets.filter((bucket) => bucket < 5000).length)
  })
  it('are tenants, where agents have one', () => {
    expect([count({ unit: 'tenant', basisPoints: 10_000 }).population, count({ unit: 'tenant', basisPoints: 10_000 }).selected]).toEqual([
      2, 2,
    ])
  })
  it('cannot be counted where they are sessions or calls: the agents that could bring them can', () => {
    expect([count({ unit: 'session' }), count({ unit: 'call' })]).toEqual([
      { population: 8, selected: null, buckets: [] },
      { population: 8, selected: null, buckets: [] },
    ])
  })
  it('are those alone whose range would choose the candidate, who hold its tags, pin nothing and are not denied', () => {
    const guarded = skillOf({
      versions: [{ version: '1.2.0' }, { version: '1.3.0', status: 'candidate', permission: ['orders:read'] }],
      stable: { '1': '1.2.0' },
    })
    const who = (id: string): AgentRecord => holding(id, 'orders:read')
    const among = [
      asks('^1', who('in')),
      asks('*', who('open')),
      asks('~1.2', who('below')),
      asks('1.2.0', who('pinned')),
      asks('^1', who('denied')),
      asks('^1', agent('poor')),
    ]
    expect(count({ basisPoints: 10_000, deny: ['denied'] }, among, guarded).population).toBe(2)
  })
  it('count the allow list beside the percentage, once', () => {
    const chosen = count({ basisPoints: 5000 }).selected ?? 0
    const everyone = count({ basisPoints: 5000, allow: names }).selected
    expect([count({ basisPoints: 0, allow: ['agent-1', 'stranger'] }).selected, everyone]).toEqual([1, 8])
    expect(chosen).toBeLessThan(8)
  })
  it('are none for a version that is not there', () => {
    expect(count({ candidate: '9.9.9' })).toEqual({ population: 0, selected: 0, buckets: [] })
  })
})

describe('a start that would reach nobody', () => {
  const rollout = rolloutOf({ basisPoints: 1000 })
  const refuse =
    (said: Partial<RolloutRecord>, population: number, buckets: number[], selected: number | null = 0) =>
    (): void =>
      requireUnits(withVersions(), { ...rollout, ...said }, { population, selected, buckets })

  it('is refused with the arithmetic: the lowest bucket, and how often that happens', () => {
    expect(refuse({}, 8, [2103, 5000])).toThrow(
      expect.objectContaining({
        code: 'NO_UNITS',
        message:
          '10 % of 8 agents selects nobody: it takes buckets below 1000 of 10000, and the lowest among them is 2103. With 8 that happens 43 % of the time.',
        hint: 'start with 21.04 % or more, name agents in allow, use another unit, or insist with force',
      }),
    )
    expect(refuse({}, 1, [9999])).toThrow(expect.objectContaining({ message: expect.stringContaining('10 % of 1 agent selects nobody') }))
  })
  it('is refused where no agent could get it at all', () => {
    expect(refuse({}, 0, [])).toThrow(expect.objectContaining({ code: 'NO_UNITS', message: expect.stringContaining('10 % of 0 agents') }))
  })
  it.each([
    ['somebody is selected', {}, 1],
    ['it is to expose nobody yet', { basisPoints: 0 }, 0],
    ['agents are named in allow', { allow: ['vip'] }, 0],
    ['its units are sessions', { unit: 'session' as const }, null],
    ['its units are tenants', { unit: 'tenant' as const }, 0],
  ])('is not refused where %s', (_, said, selected) => {
    expect(refuse(said, 8, [500], selected)).not.toThrow()
  })
})
