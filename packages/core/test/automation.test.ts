import {
  nextMoveAt,
  planAdvance,
  planPause,
  planResume,
  planSetPercent,
  planStart,
  type RolloutRecord,
  type SkillRecord,
} from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { after, facts, order, planFor, planOn, request, told, withVersions } from './lifecycle-fixture.ts'
import { rolloutOf } from './skill-fixture.ts'

const minutes = (count: number): string => new Date(Date.UTC(2026, 0, 2, 0, count)).toISOString()
const steps = [
  { basisPoints: 1000, dwellMs: 600_000 },
  { basisPoints: 5000, dwellMs: 1_800_000 },
  { basisPoints: 10_000, dwellMs: 0 },
]
const start = (said: Parameters<typeof request>[0] = {}, skill = withVersions()): RolloutRecord => {
  const [rollout] = planStart(facts(skill), request({ steps, ...said }), order).rollouts
  if (rollout === undefined) throw new Error('nothing was started')
  return rollout
}
const advance = (rollout: RolloutRecord, minute: number, skill: SkillRecord = withVersions()): RolloutRecord =>
  planAdvance(facts(skill), rollout, minutes(minute)).rollouts[0] ?? rollout
const standing = ({ state, pausedReason, basisPoints, stepIndex }: RolloutRecord): string =>
  `${state}${pausedReason === null ? '' : ` ${pausedReason}`} at ${basisPoints}, step ${stepIndex}`

describe('a rollout with steps', () => {
  it('takes each step when the one before has dwelt, and rests on the last', () => {
    const begun = start()
    expect([standing(begun), nextMoveAt(begun)]).toEqual(['running at 1000, step 0', minutes(10)])
    expect(standing(advance(begun, 9))).toBe('running at 1000, step 0')
    const second = advance(begun, 10)
    expect([standing(second), nextMoveAt(second)]).toEqual(['running at 5000, step 1', minutes(40)])
    const last = advance(second, 41)
    expect([standing(last), nextMoveAt(last)]).toEqual(['running at 10000, step 2', undefined])
    expect(planAdvance(facts(withVersions()), last, minutes(999))).toEqual({ versions: [], lines: [], rollouts: [] })
  })
  it('that was late takes one step at a time, and dwells from when it was taken', () => {
    const late = advance(start(), 500)
    expect([standing(late), nextMoveAt(late)]).toEqual(['running at 5000, step 1', minutes(530)])
  })
  it('holds a share below its first step as long as that step would last', () => {
    const begun = start({ basisPoints: 0 })
    expect([standing(begun), nextMoveAt(begun)]).toEqual(['running at 0, step -1', minutes(10)])
    expect(standing(advance(begun, 10))).toBe('running at 1000, step 0')
  })
  it('begins by itself when it was told to, and exposes nobody before', () => {
    const scheduled = start({ startAt: minutes(60) })
    expect([scheduled.state, scheduled.startedAt, nextMoveAt(scheduled)]).toEqual(['scheduled', null, minutes(60)])
    expect(advance(scheduled, 59)).toBe(scheduled)
    const begun = advance(scheduled, 61)
    expect([standing(begun), begun.startedAt, nextMoveAt(begun)]).toEqual(['running at 1000, step 0', minutes(61), minutes(71)])
  })
  it('begins at once when its time has passed', () => {
    expect(start({ startAt: minutes(-5) }).state).toBe('running')
  })
  it('without steps moves never, nor does a paused or an ended one', () => {
    const still = [start({ steps: [] }), rolloutOf({ state: 'paused', steps }), rolloutOf({ state: 'promoted', steps })]
    expect(still.map(nextMoveAt)).toEqual([undefined, undefined, undefined])
    expect(still.map((rollout) => told(() => planAdvance(facts(withVersions()), rollout, minutes(999))))).toEqual(
      still.map(() => 'no change'),
    )
  })
})

describe('automation that finds the ground moved', () => {
  const changed = { ...start(), basisPoints: 2500 }
  const http = withVersions()
  const candidate = http.byVersion.get('1.3.0')
  const through: SkillRecord = {
    ...http,
    versions: http.versions.map((version) =>
      version === candidate
        ? { ...version, manifest: { ...version.manifest, executor: { kind: 'http', connection: 'shop', path: '/x', method: 'POST' } } }
        : version,
    ),
  }
  it.each([
    ['somebody set another percentage', changed, withVersions(), 'somebody set 25 %, where the steps had 10 %'],
    [
      'the line serves something else',
      start(),
      after(withVersions(), 'yank 1.2.0'),
      'line 1 serves 1.1.0 now, and served 1.2.0 when this rollout began',
    ],
    [
      'the line serves nothing any more',
      start(),
      after(withVersions(), 'yank 1.0.0', 'yank 1.1.0', 'yank 1.2.0'),
      'line 1 serves nothing now, and served 1.2.0 when this rollout began',
    ],
    ['its connection was removed', start(), through, 'the connection shop does not exist any more'],
  ] as const)('pauses because %s', (_, rollout, skill, note) => {
    const paused = advance(rollout, 10, skill)
    expect([standing(paused), paused.pausedNote]).toEqual([`paused conflict at ${rollout.basisPoints}, step 0`, note])
  })
  it('does so before it begins, too: what it would begin is not what was planned', () => {
    const paused = advance(start({ startAt: minutes(60) }), 60, after(withVersions(), 'yank 1.2.0'))
    expect([standing(paused), paused.startedAt]).toEqual(['paused conflict at 1000, step 0', null])
  })
  it('goes on after somebody resumed, from the share and the stable there are', () => {
    const skill = after(withVersions(), 'yank 1.2.0')
    const paused = advance(changed, 10, skill)
    const at = { ...order, at: minutes(20) }
    const [resumed = paused] = planResume(facts(skill), paused, at).rollouts
    expect([standing(resumed), resumed.previousStable, nextMoveAt(resumed)]).toEqual(['running at 2500, step 0', '1.1.0', minutes(30)])
    expect(standing(advance(resumed, 30, skill))).toBe('running at 5000, step 1')
  })
  it('needs the connection again before somebody resumes it, starts it, promotes it or raises it; lowering needs none', () => {
    const paused = { ...start(), state: 'paused' as const, pausedReason: 'conflict' as const }
    const raise = (basisPoints: number): string => told(() => planSetPercent(facts(through), start(), { basisPoints, order }))
    expect([told(() => planResume(facts(through), paused, order)), told(() => planOn('promote', through, paused))]).toEqual([
      'NOT_FOUND',
      'NOT_FOUND',
    ])
    expect([told(() => planFor('start 1.3.0', through)), raise(2000), raise(500)]).toEqual(['NOT_FOUND', 'NOT_FOUND', 'fresh running'])
    expect(told(() => planResume(facts(through, ['shop']), paused, order))).toBe('fresh running')
  })
})

describe('automation after somebody stepped back', () => {
  const moving = rolloutOf({ id: 'moving', line: '2', candidate: '2.0.0', previousStable: null, steps, stepIndex: 0 })
  const resting = { ...moving, stepIndex: 2 }
  const rollout = rolloutOf({ id: 'r', previousStable: '1.2.0' })
  const beside = (other: RolloutRecord): SkillRecord => withVersions({ rollouts: [rollout, other] })
  it('is held by a rollback and by a revert: what is scheduled and what has steps to come, and nothing else', () => {
    const scheduled = { ...moving, state: 'scheduled' as const, startedAt: null, startAt: minutes(60) }
    expect([
      told(() => planOn('rollback', beside(moving), rollout)),
      told(() => planOn('rollback', beside(scheduled), rollout)),
      told(() => planOn('rollback', beside(resting), rollout)),
      told(() => planFor('revert 1.1.0', beside(moving))),
    ]).toEqual([
      '1.3.0 yanked | r rolled_back, moving paused held',
      '1.3.0 yanked | r rolled_back, moving paused held',
      '1.3.0 yanked | r rolled_back',
      '1.3.0 yanked, 1.2.0 yanked | 1→1.1.0 | r rolled_back, moving paused held',
    ])
  })
  it('keeps its share while it is held, and goes on when somebody resumes: scheduled again when its time is to come', () => {
    const held = planOn('rollback', beside(moving), rollout).rollouts[1] ?? moving
    expect([standing(held), nextMoveAt(held)]).toEqual(['paused held at 1000, step 0', undefined])
    expect(standing(planResume(facts(beside(held)), held, order).rollouts[0] ?? held)).toBe('running at 1000, step 0')
    const waiting = { ...held, startedAt: null, startAt: minutes(60) }
    const early = planResume(facts(beside(held)), waiting, order).rollouts[0]
    expect([early?.state, early?.startedAt, early?.stepAt]).toEqual(['scheduled', null, null])
    const late = planResume(facts(beside(held)), waiting, { ...order, at: minutes(90) }).rollouts[0]
    expect([late?.state, late?.startedAt, late?.stepAt]).toEqual(['running', minutes(90), minutes(90)])
  })
  it('begins the step in force anew after any pause', () => {
    const paused = planPause(start(), order).rollouts[0] ?? start()
    const resumed = planResume(facts(withVersions()), paused, { ...order, at: minutes(100) }).rollouts[0] ?? paused
    expect([standing(resumed), nextMoveAt(resumed)]).toEqual(['running at 1000, step 0', minutes(110)])
  })
})
