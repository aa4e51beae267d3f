import {
  bucketOf,
  honourExpected,
  parseRange,
  Refusal,
  resolve,
  type ResolveContext,
  type Resolved,
  type SkillRecord,
} from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { skillOf } from './skill-fixture.ts'

const skill = skillOf({
  versions: [
    { version: '0.9.0', status: 'deprecated', reason: 'old' },
    { version: '1.0.8', status: 'yanked', formerStatus: 'released', reason: 'it miscounted' },
    { version: '1.0.9', status: 'blocked', reason: 'it leaked', replacement: '1.2.4' },
    { version: '1.1.3' },
    { version: '1.2.4' },
    { version: '1.3.0', status: 'candidate', team: 'authors' },
    { version: '2.0.0' },
    { version: '2.1.0', status: 'candidate' },
    { version: '1.3.1-rc.1', status: 'released' },
  ],
  stable: { '0.9': '0.9.0', '1': '1.2.4', '2': '2.0.0' },
  rollouts: [
    { id: 'r1', candidate: '1.3.0', basisPoints: 1000, allow: ['vip'], deny: ['bank'] },
    { id: 'r2', line: '2', candidate: '2.1.0', basisPoints: 500 },
  ],
})

const as = (agentId: string, more: Partial<ResolveContext> = {}): ResolveContext => ({
  agentId,
  team: null,
  pinsCandidates: false,
  holds: () => true,
  units: { agent: agentId },
  ...more,
})
const outside = Array.from({ length: 200 }, (_, n) => `agent-${n}`).find((name) => bucketOf('01JAB-salt', 'agent', name) >= 1000) ?? ''
const inside = Array.from({ length: 200 }, (_, n) => `agent-${n}`).find((name) => bucketOf('01JAB-salt', 'agent', name) < 500) ?? ''
const get = (range: string | string[], context = as(outside), of: SkillRecord = skill): Resolved =>
  resolve(of, [range].flat().map(parseRange), context)
const say = (resolved: Resolved): string =>
  `${resolved.version.version} ${resolved.via}${resolved.warnings.map((warning) => ` ${warning.code}`).join('')}`
const no = (range: string | string[], context = as(outside), of: SkillRecord = skill): Refusal => {
  try {
    get(range, context, of)
  } catch (error) {
    if (error instanceof Refusal) return error
  }
  throw new Error('it resolved')
}

describe('the decision table', () => {
  it.each([
    ['^1.2.0', as(outside), '1.2.4 stable'],
    ['^1.2.0', as(inside), '1.3.0 canary'],
    ['^1.2.0', as('vip'), '1.3.0 allow'],
    ['^1.2.0', as('bank'), '1.2.4 stable'],
    ['~1.1.0', as('vip'), '1.1.3 stable'],
    ['1.3.0', as('vip'), '1.3.0 pinned candidate'],
    ['1.3.0', as('x', { team: 'authors' }), '1.3.0 pinned candidate'],
    ['1.3.0', as('op', { pinsCandidates: true }), '1.3.0 pinned candidate'],
    ['1.0.8', as(outside), '1.0.8 pinned yanked'],
    ['^0.9.0', as(outside), '0.9.0 stable deprecated'],
    ['*', as(outside), '2.0.0 stable unbounded_range'],
    ['latest', as(outside), '2.0.0 stable unbounded_range'],
    ['*', as(inside), '2.1.0 canary unbounded_range'],
    ['^1.2.0', as(outside, { units: {} }), '1.2.4 stable no_sticky_key'],
    ['^1.2.0', as(outside, { units: { agent: '' } }), '1.2.4 stable no_sticky_key'],
    ['^1.2.0', as(inside, { holds: () => false }), '1.2.4 stable canary_not_permitted'],
    ['1.3.1-rc.1', as(outside), '1.3.1-rc.1 pinned above_stable'],
    ['=v1.2.4', as(outside), '1.2.4 pinned'],
  ] as const)('%s', (range, context, expected) => {
    expect(say(get(range, context))).toBe(expected)
  })
  it('an unfit range is refused with the percentage: exposure never exceeds it', () => {
    expect([no('^1.3.0').code, no('^1.3.0').hint]).toEqual(['NO_MATCHING_VERSION', expect.stringContaining('1.3.0 is a candidate at 10 %')])
  })
  it('a candidate is not there for others, and the deny list binds pins too', () => {
    expect([no('1.3.0').code, no('1.3.0', as('bank', { pinsCandidates: true })).code]).toEqual(['VERSION_NOT_FOUND', 'VERSION_NOT_FOUND'])
  })
  it('a yanked version is named with its reason where only it would fit', () => {
    expect(no('^1.0.8 <1.0.9').hint).toContain('1.0.8 was yanked: it miscounted')
  })
  it('a blocked version is for nobody, with reason and replacement', () => {
    expect([no('1.0.9').code, no('1.0.9').message]).toEqual(['VERSION_WITHDRAWN', 'skill 1.0.9 was blocked: it leaked. Use 1.2.4 instead.'])
  })
  it('what is above its line’s stable is not chosen, and ranges below it are served', () => {
    const late = skillOf({ versions: [{ version: '1.2.5' }, { version: '1.4.0' }, { version: '1.5.0' }], stable: { '1': '1.4.0' } })
    expect([say(get('^1', as('a'), late)), say(get('~1.2', as('a'), late)), no('^1.5', as('a'), late).hint]).toEqual([
      '1.4.0 stable',
      '1.2.5 stable',
      expect.stringContaining('1.5.0 is above its line'),
    ])
  })
  it('every range that was given binds, exact pins included', () => {
    expect(say(get(['^1', '<1.2']))).toBe('1.1.3 stable')
    expect(say(get(['^1', '1.2.4']))).toBe('1.2.4 pinned')
    expect([no(['^2', '1.2.4']).code, no(['1.2.4', '1.1.3']).message]).toEqual([
      'NO_MATCHING_VERSION',
      'No version of skill satisfies all of 1.2.4 and 1.1.3.',
    ])
  })
  it('a rolled-back candidate is pinned by those alone who could pin it before', () => {
    const back = skillOf({
      versions: [{ version: '1.0.0' }, { version: '1.1.0', status: 'yanked', formerStatus: 'candidate' }],
      stable: { '1': '1.0.0' },
    })
    expect([no('1.1.0', as('a'), back).code, say(get('1.1.0', as('op', { pinsCandidates: true }), back))]).toEqual([
      'VERSION_NOT_FOUND',
      '1.1.0 pinned yanked',
    ])
  })
  it('the coin is kept exactly when it was flipped', () => {
    expect([get('^1.2.0', as(outside)).coin, get('^1.2.0', as('vip')).coin, get('~1.1.0').coin]).toEqual([
      { rolloutId: 'r1', arm: 'stable', unitKind: 'agent', unitValue: outside },
      null,
      null,
    ])
  })
})

describe('an expected version', () => {
  const honour = (version: string, range: string, agent = outside): string => {
    const ranges = [parseRange(range)]
    return say(honourExpected(skill, { version, ranges, resolved: resolve(skill, ranges, as(agent)) }, as(agent)))
  }
  it('is run while it can be served, also a candidate whose cohort holds the unit', () => {
    expect([honour('1.2.4', '^1'), honour('1.1.3', '^1'), honour('1.3.0', '^1', inside)]).toEqual([
      '1.2.4 stable',
      '1.1.3 session',
      '1.3.0 canary',
    ])
  })
  it('is refused when it is yanked, blocked, out of range, or a candidate of others', () => {
    for (const version of ['1.0.8', '1.0.9', '2.0.0', '1.3.0', '9.9.9'])
      expect(() => honour(version, '^1')).toThrow(expect.objectContaining({ code: 'VERSION_CHANGED' }))
  })
  it('is refused to who lacks its tags, though the resolved one needs none', () => {
    const guarded = skillOf({
      versions: [{ version: '1.0.0', permission: ['orders:read'] }, { version: '1.1.0' }],
      stable: { '1': '1.1.0' },
    })
    const poor = as('a', { holds: ({ manifest }) => manifest.permission.length === 0 })
    const ranges = [parseRange('^1')]
    expect(() => honourExpected(guarded, { version: '1.0.0', ranges, resolved: resolve(guarded, ranges, poor) }, poor)).toThrow(
      expect.objectContaining({ code: 'VERSION_CHANGED' }),
    )
  })
  it('warns of its own deprecation, and not of that of the resolved one', () => {
    const old = skillOf({
      versions: [
        { version: '1.0.0', status: 'deprecated', reason: 'old' },
        { version: '1.1.0' },
        { version: '1.2.0', status: 'deprecated' },
      ],
      stable: { '1': '1.2.0' },
    })
    const ranges = [parseRange('^1')]
    const honoured = (version: string): string =>
      say(honourExpected(old, { version, ranges, resolved: resolve(old, ranges, as('a')) }, as('a')))
    expect([honoured('1.0.0'), honoured('1.1.0')]).toEqual(['1.0.0 session deprecated', '1.1.0 session'])
  })
  it('is run as the resolved one where both have the same schema', () => {
    const twin = skillOf({
      versions: [
        { version: '1.0.0', schema: 's', status: 'yanked' },
        { version: '1.0.1', schema: 's' },
      ],
      stable: { '1': '1.0.1' },
    })
    const ranges = [parseRange('^1')]
    expect(say(honourExpected(twin, { version: '1.0.0', ranges, resolved: resolve(twin, ranges, as('a')) }, as('a')))).toBe('1.0.1 stable')
  })
})
