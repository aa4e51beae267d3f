import { applyPlan, planBlock, planDeprecate, planRelease, planRollback, planStart, planYank, type RolloutRecord } from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { after, facts, planFor, planOn, order, request, told, withVersions } from './lifecycle-fixture.ts'
import { rolloutOf, skillOf } from './skill-fixture.ts'

const at = (more: Partial<RolloutRecord>): RolloutRecord => rolloutOf({ id: 'r', previousStable: '1.2.0', ...more })
const states: Readonly<Record<string, RolloutRecord>> = {
  scheduled: at({ state: 'scheduled', startAt: '2026-01-03T00:00:00.000Z' }),
  running: at({ state: 'running' }),
  paused: at({ state: 'paused', pausedReason: 'manual' }),
  'paused before its start': at({ state: 'paused', pausedReason: 'held', startedAt: null, startAt: '2026-01-03T00:00:00.000Z' }),
  promoted: at({ state: 'promoted', endedAt: '2026-01-01T00:00:00.000Z' }),
  rolled_back: at({ state: 'rolled_back', endedAt: '2026-01-01T00:00:00.000Z' }),
  cancelled: at({ state: 'cancelled', endedAt: '2026-01-01T00:00:00.000Z' }),
}

describe('a command on a rollout', () => {
  it.each([
    ['scheduled', 'set-percent', 'r scheduled'],
    ['scheduled', 'pause', 'r paused manual'],
    ['scheduled', 'resume', 'ILLEGAL_TRANSITION [set-percent pause rollback cancel]'],
    ['scheduled', 'promote', 'ILLEGAL_TRANSITION [set-percent pause rollback cancel]'],
    ['scheduled', 'rollback', '1.3.0 yanked | r rolled_back'],
    ['scheduled', 'cancel', 'r cancelled'],
    ['running', 'set-percent', 'r running'],
    ['running', 'pause', 'r paused manual'],
    ['running', 'resume', 'ILLEGAL_TRANSITION [set-percent pause promote rollback cancel]'],
    ['running', 'promote', '1.3.0 released | 1→1.3.0 | r promoted'],
    ['running', 'rollback', '1.3.0 yanked | r rolled_back'],
    ['running', 'cancel', 'r cancelled'],
    ['paused', 'set-percent', 'ILLEGAL_TRANSITION [resume promote rollback cancel]'],
    ['paused', 'pause', 'no change'],
    ['paused', 'resume', 'r running'],
    ['paused', 'promote', '1.3.0 released | 1→1.3.0 | r promoted'],
    ['paused', 'rollback', '1.3.0 yanked | r rolled_back'],
    ['paused', 'cancel', 'r cancelled'],
    ['paused before its start', 'set-percent', 'ILLEGAL_TRANSITION [resume rollback cancel]'],
    ['paused before its start', 'pause', 'no change'],
    ['paused before its start', 'resume', 'r scheduled'],
    ['paused before its start', 'promote', 'ILLEGAL_TRANSITION [resume rollback cancel]'],
    ['paused before its start', 'rollback', '1.3.0 yanked | r rolled_back'],
    ['paused before its start', 'cancel', 'r cancelled'],
    ['promoted', 'set-percent', 'ILLEGAL_TRANSITION [rollback]'],
    ['promoted', 'pause', 'ILLEGAL_TRANSITION [rollback]'],
    ['promoted', 'resume', 'ILLEGAL_TRANSITION [rollback]'],
    ['promoted', 'promote', 'ILLEGAL_TRANSITION [rollback]'],
    ['promoted', 'rollback', '1.3.0 yanked | 1→1.2.0 | r rolled_back'],
    ['promoted', 'cancel', 'ILLEGAL_TRANSITION [rollback]'],
    ['rolled_back', 'set-percent', 'ILLEGAL_TRANSITION []'],
    ['rolled_back', 'pause', 'ILLEGAL_TRANSITION []'],
    ['rolled_back', 'resume', 'ILLEGAL_TRANSITION []'],
    ['rolled_back', 'promote', 'ILLEGAL_TRANSITION []'],
    ['rolled_back', 'rollback', 'no change'],
    ['rolled_back', 'cancel', 'ILLEGAL_TRANSITION []'],
    ['cancelled', 'set-percent', 'ILLEGAL_TRANSITION []'],
    ['cancelled', 'pause', 'ILLEGAL_TRANSITION []'],
    ['cancelled', 'resume', 'ILLEGAL_TRANSITION []'],
    ['cancelled', 'promote', 'ILLEGAL_TRANSITION []'],
    ['cancelled', 'rollback', 'no change'],
    ['cancelled', 'cancel', 'ILLEGAL_TRANSITION []'],
  ])('%s, %s: %s', (state, command, expected) => {
    const rollout = states[state] ?? at({})
    const started = withVersions({ rollouts: [rollout] })
    const skill = state === 'promoted' ? after(withVersions(), 'release 1.3.0') : started
    expect(told(() => planOn(command, skill, rollout))).toBe(expected)
  })
})

describe('a command on a version', () => {
  const skill = skillOf({
    versions: [
      { version: '1.0.0' },
      { version: '1.1.0', status: 'deprecated', formerStatus: 'released', reason: 'old' },
      { version: '1.2.0' },
      { version: '1.3.0', status: 'candidate' },
      { version: '1.4.0', status: 'yanked', formerStatus: 'released' },
      { version: '1.5.0', status: 'yanked', formerStatus: 'candidate' },
      { version: '1.6.0', status: 'blocked' },
    ],
    stable: { '1': '1.2.0' },
  })
  it.each([
    ['candidate', 'release 1.3.0', '1.3.0 released | 1→1.3.0'],
    ['candidate', 'deprecate 1.3.0', 'ILLEGAL_TRANSITION [release yank block]'],
    ['candidate', 'yank 1.3.0', '1.3.0 yanked'],
    ['candidate', 'unyank 1.3.0', 'ILLEGAL_TRANSITION [release yank block]'],
    ['candidate', 'block 1.3.0', '1.3.0 blocked'],
    ['candidate', 'start 1.3.0', 'fresh running'],
    ['released', 'release 1.0.0', 'no change'],
    ['released', 'deprecate 1.0.0', '1.0.0 deprecated'],
    ['released', 'yank 1.0.0', '1.0.0 yanked'],
    ['released', 'unyank 1.0.0', 'ILLEGAL_TRANSITION [deprecate yank block]'],
    ['released', 'block 1.0.0', '1.0.0 blocked'],
    ['released', 'start 1.0.0', 'ILLEGAL_TRANSITION []'],
    ['deprecated', 'release 1.1.0', 'no change'],
    ['deprecated', 'deprecate 1.1.0', '1.1.0 deprecated'],
    ['deprecated', 'yank 1.1.0', '1.1.0 yanked'],
    ['deprecated', 'unyank 1.1.0', 'ILLEGAL_TRANSITION [yank block]'],
    ['deprecated', 'block 1.1.0', '1.1.0 blocked'],
    ['yanked', 'release 1.4.0', 'ILLEGAL_TRANSITION [unyank block]'],
    ['yanked', 'deprecate 1.4.0', 'ILLEGAL_TRANSITION [unyank block]'],
    ['yanked', 'yank 1.4.0', 'no change'],
    ['yanked', 'unyank 1.4.0', '1.4.0 released'],
    ['yanked', 'start 1.4.0', 'ILLEGAL_TRANSITION []'],
    ['yanked candidate', 'unyank 1.5.0', '1.5.0 candidate'],
    ['yanked', 'block 1.4.0', '1.4.0 blocked'],
    ['blocked', 'release 1.6.0', 'ILLEGAL_TRANSITION []'],
    ['blocked', 'deprecate 1.6.0', 'ILLEGAL_TRANSITION []'],
    ['blocked', 'yank 1.6.0', 'ILLEGAL_TRANSITION []'],
    ['blocked', 'unyank 1.6.0', 'ILLEGAL_TRANSITION []'],
    ['blocked', 'block 1.6.0', 'no change'],
    ['blocked', 'start 1.6.0', 'VERSION_WITHDRAWN'],
    ['unknown', 'release 9.9.9', 'VERSION_NOT_FOUND'],
  ])('%s, %s: %s', (_, text, expected) => {
    expect(told(() => planFor(text, skill))).toBe(expected)
  })
  it('of a line with an active rollout releases nothing, and starts no second one', () => {
    const busy = withVersions({ rollouts: [at({})] })
    expect([told(() => planRelease(facts(busy), '1.3.0', order)), told(() => planStart(facts(busy), request(), order))]).toEqual([
      'ROLLOUT_ACTIVE',
      'ROLLOUT_ACTIVE',
    ])
  })
  it('withdraws what its line serves: the next older one that ranges may get is served, or nothing', () => {
    const yanked = after(withVersions(), 'yank 1.1.0')
    expect([
      told(() => planYank(facts(yanked), { version: '1.2.0' }, order)),
      told(() => planBlock(facts(yanked), { version: '1.2.0' }, order)),
      told(() => planYank(facts(after(yanked, 'yank 1.2.0')), { version: '1.0.0' }, order)),
    ]).toEqual(['1.2.0 yanked | 1→1.0.0', '1.2.0 blocked | 1→1.0.0', '1.0.0 yanked | 1→nothing'])
  })
  it('withdraws the candidate of an active rollout, and ends that rollout; automation elsewhere is held', () => {
    const other = at({ id: 'other', line: '2', candidate: '2.0.0', steps: [{ basisPoints: 5000, dwellMs: 1000 }] })
    const busy = withVersions({ rollouts: [at({}), other] })
    expect([
      told(() => planYank(facts(busy), { version: '1.3.0' }, order)),
      told(() => planBlock(facts(busy), { version: '1.3.0' }, order)),
    ]).toEqual(['1.3.0 yanked | r rolled_back, other paused held', '1.3.0 blocked | r rolled_back, other paused held'])
  })
  it('takes a yank back without serving the version again; releasing it anew does', () => {
    const back = after(withVersions(), 'yank 1.2.0', 'unyank 1.2.0')
    expect([back.stable.get('1')?.version, back.byVersion.get('1.2.0')?.status]).toEqual(['1.1.0', 'released'])
    expect(told(() => planRelease(facts(back), '1.2.0', order))).toBe('1→1.2.0')
  })
  it('deprecates again with other words, a date and a replacement, and keeps when it was deprecated first', () => {
    const once = applyPlan(withVersions(), planDeprecate(facts(withVersions()), { version: '1.0.0', replacement: '1.2.0' }, order))
    const later = { ...order, at: '2026-01-09T00:00:00.000Z' }
    const farewell = { version: '1.0.0', replacement: '1.2.0' }
    expect(told(() => planDeprecate(facts(once), farewell, later))).toBe('no change')
    const [change] = planDeprecate(
      facts(once),
      { ...farewell, sunsetAt: '2027-01-01T00:00:00.000Z' },
      { ...later, reason: 'other words' },
    ).versions
    expect(change).toEqual({
      version: '1.0.0',
      status: 'deprecated',
      formerStatus: 'released',
      statusReason: 'other words',
      statusChangedAt: order.at,
      replacement: '1.2.0',
      sunsetAt: '2027-01-01T00:00:00.000Z',
    })
  })
  it('names no replacement that is blocked, unknown or the version itself', () => {
    const blocked = after(withVersions(), 'block 1.1.0')
    const replaced = (replacement: string): string => told(() => planYank(facts(blocked), { version: '1.0.0', replacement }, order))
    expect(['1.1.0', '9.9.9', '1.0.0', '1.2.0'].map(replaced)).toEqual([
      'INVALID_REQUEST',
      'VERSION_NOT_FOUND',
      'INVALID_REQUEST',
      '1.0.0 yanked',
    ])
  })
  it('of a pre-release serves nothing, and rolls nothing out', () => {
    const early = skillOf({ versions: [{ version: '1.0.0-rc.1', status: 'candidate' }], stable: {} })
    expect([
      told(() => planRelease(facts(early), '1.0.0-rc.1', order)),
      told(() => planStart(facts(early), request({ version: '1.0.0-rc.1' }), order)),
    ]).toEqual(['1.0.0-rc.1 released', 'CANARY_UNREACHABLE'])
  })
})

describe('a revert', () => {
  const revert = (skill = withVersions(), to = '1.1.0'): string => told(() => planFor(`revert ${to}`, skill))
  it('serves an older version again, and yanks what it stepped over and what was rolling out above', () => {
    const busy = withVersions({ rollouts: [at({})] })
    expect([revert(), revert(busy), revert(busy, '1.0.0')]).toEqual([
      '1.2.0 yanked | 1→1.1.0',
      '1.3.0 yanked, 1.2.0 yanked | 1→1.1.0 | r rolled_back',
      '1.3.0 yanked, 1.2.0 yanked, 1.1.0 yanked | 1→1.0.0 | r rolled_back',
    ])
  })
  it('to what is served ends what is above it, or changes nothing', () => {
    expect([revert(withVersions(), '1.2.0'), revert(withVersions({ rollouts: [at({})] }), '1.2.0')]).toEqual([
      'no change',
      '1.3.0 yanked | r rolled_back',
    ])
  })
  it('goes down alone, within its line, to a version that ranges may get', () => {
    const unyanked = after(withVersions(), 'yank 1.2.0', 'unyank 1.2.0')
    const early = skillOf({ versions: [{ version: '1.0.0-rc.1' }, { version: '1.1.0' }], stable: { '1': '1.1.0' } })
    expect([
      revert(unyanked, '1.2.0'),
      revert(withVersions(), '2.0.0'),
      revert(after(withVersions(), 'yank 1.1.0')),
      revert(after(withVersions(), 'block 1.1.0')),
      revert(withVersions(), '1.3.0'),
      revert(early, '1.0.0-rc.1'),
    ]).toEqual([
      'ILLEGAL_TRANSITION [release]',
      'VERSION_NOT_FOUND',
      'ILLEGAL_TRANSITION []',
      'ILLEGAL_TRANSITION []',
      'ILLEGAL_TRANSITION []',
      'ILLEGAL_TRANSITION []',
    ])
  })
  it('keeps a rollout below it running', () => {
    const below = at({ candidate: '1.0.5' })
    const skill = skillOf({
      versions: [{ version: '1.0.0' }, { version: '1.0.5', status: 'candidate' }, { version: '1.1.0' }, { version: '1.2.0' }],
      stable: { '1': '1.2.0' },
      rollouts: [below],
    })
    expect(revert(skill)).toBe('1.2.0 yanked | 1→1.1.0')
  })
})

describe('a rollback of what was promoted', () => {
  const promoted = at({ state: 'promoted' })
  const rollback = (skill = withVersions(), rollout = promoted): string => told(() => planRollback(facts(skill), rollout, order))
  const served = after(withVersions(), 'release 1.3.0')
  it('serves what it replaced, or what is below where that is gone, or nothing', () => {
    expect([
      rollback(served),
      rollback(after(served, 'yank 1.2.0')),
      rollback(after(served, 'yank 1.2.0', 'block 1.1.0', 'yank 1.0.0')),
      rollback(after(withVersions(), 'release 2.0.0'), at({ line: '2', candidate: '2.0.0', previousStable: null, state: 'promoted' })),
    ]).toEqual([
      '1.3.0 yanked | 1→1.2.0 | r rolled_back',
      '1.3.0 yanked | 1→1.1.0 | r rolled_back',
      '1.3.0 yanked | 1→nothing | r rolled_back',
      '2.0.0 yanked | 2→nothing | r rolled_back',
    ])
  })
  it('is refused while something newer is served, naming revert and yank', () => {
    const newer = skillOf({ versions: [{ version: '1.2.0' }, { version: '1.3.0' }, { version: '1.4.0' }], stable: { '1': '1.4.0' } })
    expect(rollback(newer)).toBe('ILLEGAL_TRANSITION [revert yank]')
  })
  it('takes away the candidate of a promotion below what was served, once that was reverted', () => {
    const late = skillOf({ versions: [{ version: '1.0.0' }, { version: '1.1.0' }, { version: '1.2.0' }], stable: { '1': '1.2.0' } })
    const rollout = at({ candidate: '1.1.0', previousStable: '1.2.0', state: 'promoted' })
    expect([rollback(late, rollout), rollback(after(late, 'revert 1.1.0'), rollout)]).toEqual([
      'ILLEGAL_TRANSITION [revert yank]',
      '1.1.0 yanked | 1→1.0.0 | r rolled_back',
    ])
  })
  it('changes nothing where the candidate is withdrawn, and withdraws it where it was unyanked above what is served', () => {
    const yanked = after(served, 'yank 1.3.0')
    expect([rollback(yanked), rollback(after(served, 'block 1.3.0')), rollback(after(yanked, 'unyank 1.3.0'))]).toEqual([
      'no change',
      'no change',
      '1.3.0 yanked | r rolled_back',
    ])
  })
})

describe('a promotion', () => {
  it('of a candidate below what is served releases it for its own ranges, and leaves the line where it is', () => {
    const skill = skillOf({
      versions: [{ version: '1.2.0' }, { version: '1.2.5', status: 'candidate' }, { version: '1.3.0' }],
      stable: { '1': '1.3.0' },
    })
    const rollout = at({ candidate: '1.2.5', previousStable: '1.3.0' })
    expect(told(() => planOn('promote', skill, rollout))).toBe('1.2.5 released | r promoted')
  })
  it('keeps in the rollout what the line served at that moment', () => {
    const skill = after(withVersions({ rollouts: [at({})] }), 'yank 1.2.0')
    expect(planOn('promote', skill, at({})).rollouts[0]?.previousStable).toBe('1.1.0')
  })
})
