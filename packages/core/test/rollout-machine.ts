import {
  applyPlan,
  assembleSkill,
  factsOf,
  isActive,
  nothingToDo,
  parseRange,
  planAdvance,
  planBlock,
  planCancel,
  planDeprecate,
  planPause,
  planPromote,
  planRelease,
  planResume,
  planRevert,
  planRollback,
  planSetPercent,
  planStart,
  planUnyank,
  planYank,
  Refusal,
  tryResolve,
  type Order,
  type Plan,
  type ResolveContext,
  type RolloutRecord,
  type SkillRecord,
  type UnitKind,
} from '@repertoire/core'
import fc from 'fast-check'
import { skillOf, versionOf } from './skill-fixture.ts'

/** A skill under commands: every rollout there ever was, ended ones too, and the minute it is. */
export type Machine = { readonly skill: SkillRecord; readonly rollouts: readonly RolloutRecord[]; readonly minute: number }

/** One random move; which version or rollout it means is picked from those there are when it is taken. */
export type Move = {
  readonly command: (typeof commands)[number]
  readonly pick: number
  readonly basisPoints: number
  readonly unit: UnitKind
  readonly deny: readonly string[]
  readonly steps: readonly { readonly basisPoints: number; readonly dwellMs: number }[]
  readonly inMinutes: number
}

/** What a move came to: the machine after it, and what it changed or why it was refused. */
export type Taken = { readonly machine: Machine; readonly plan: Plan; readonly refused: Refusal | undefined }

// Twice in the list is twice as likely.
const commands = [
  'publish',
  'start',
  'start',
  'start',
  'set-percent',
  'pause',
  'resume',
  'promote',
  'promote',
  'rollback',
  'rollback',
  'cancel',
  'release',
  'release',
  'deprecate',
  'yank',
  'unyank',
  'unyank',
  'block',
  'revert',
  'advance',
] as const

const universe = '0.1.0 0.1.1 1.0.0 1.0.1 1.1.0 1.2.0 1.2.1 1.3.0 2.0.0 2.1.0 2.2.0 1.4.0-rc.1'.split(' ')

/** Whoever asks: plain ones, one on the allow list, one that may be denied, one without tags, and one without a sticky key. */
export const agents: readonly ResolveContext[] = ['a', 'b', 'c', 'vip', 'bank', 'poor', 'nameless'].map((agentId) => ({
  agentId,
  team: null,
  pinsCandidates: false,
  holds: ({ manifest }) => manifest.permission.length === 0 || agentId !== 'poor',
  units: agentId === 'nameless' ? {} : { agent: agentId, session: `${agentId}-1`, tenant: agentId < 'c' ? 'acme' : 'other' },
}))

/** The range that one version alone satisfies, and is no pin. */
export const only = (version: string): string => `>=${version} <=${version}`

/** Ranges that meet every version and every line of the machine. */
export const ranges: readonly string[] = [
  ...'* ^0.1 ^1 ^2 ~1.0 ~1.1 ~1.2 ^1.2 ^1.3 ^0.1||^2'.split(' '),
  '>=0.1 <3',
  '>1.0.0 <2.1.0',
  ...universe.map(only),
]

/** A skill with some versions, the first few of which are released, in the order they come. */
export const anyMachine: fc.Arbitrary<Machine> = fc
  .record({
    versions: fc.shuffledSubarray([...universe], { minLength: 2 }),
    released: fc.nat(5),
    guarded: fc.subarray([...universe], { maxLength: 6 }),
  })
  .map(({ versions, released, guarded }) => {
    const permission = (version: string): string[] => (guarded.some((name) => name === version) ? ['orders:read'] : [])
    const sketches = versions.map((version) => ({ version, status: 'candidate' as const, permission: permission(version) }))
    const machine = { skill: skillOf({ versions: sketches, stable: {} }), rollouts: [], minute: 0 }
    return versions
      .slice(0, released)
      .reduce<Machine>((at, version) => carryOut(at, (order) => planRelease(facts(at), version, order)).machine, machine)
  })

/** A random move. */
export const anyMove: fc.Arbitrary<Move> = fc.record({
  command: fc.constantFrom(...commands),
  pick: fc.nat(999),
  basisPoints: fc.oneof(fc.nat(10_000), fc.constantFrom(0, 5000, 10_000)),
  unit: fc.constantFrom('agent', 'agent', 'session', 'tenant', 'call' as const),
  deny: fc.constantFrom([], ['bank']),
  steps: fc.constantFrom([], [], [{ basisPoints: 1000, dwellMs: 60_000 }], [5000, 10_000].map(stepOf)),
  inMinutes: fc.constantFrom(0, 0, 0, 3),
})

/** A machine after some random moves. */
export const movedMachine = (maxMoves = 16): fc.Arbitrary<Machine> =>
  fc
    .tuple(anyMachine, fc.array(anyMove, { maxLength: maxMoves, size: 'max' }))
    .map(([machine, moves]) => readable(moves.reduce((at, move) => take(at, move).machine, machine)))

/** Takes a move; what is refused leaves the machine as it was, a minute later. */
export function take(machine: Machine, move: Move): Taken {
  if (move.command === 'publish') return publish(machine, move)
  return carryOut(machine, (order) => planOf(machine, move, order))
}

/** Carries out a plan made of the machine's skill as it is now. */
export function carryOut(machine: Machine, planned: (order: Order) => Plan): Taken {
  const minute = machine.minute + 1
  try {
    const plan = planned({ by: 'test', at: timeAt(minute), reason: 'a test moves it', acceptTags: ['orders:read'] })
    const changed = new Map([...machine.rollouts, ...plan.rollouts].map((rollout) => [rollout.id, rollout]))
    return { machine: { skill: applyPlan(machine.skill, plan), rollouts: [...changed.values()], minute }, plan, refused: undefined }
  } catch (error) {
    if (error instanceof Refusal) return { machine: { ...machine, minute }, plan: nothingToDo, refused: error }
    throw error
  }
}

/** What the machine's skill says to commands. */
export const facts = ({ skill }: Machine): ReturnType<typeof factsOf> => factsOf(skill, () => true)

/** The version a move means. */
export const versionFor = ({ skill }: Machine, { pick }: Move): string => skill.versions[pick % skill.versions.length]?.version ?? ''

/** The rollout a move means: mostly an active one. */
export function rolloutFor({ rollouts }: Machine, { pick }: Move): RolloutRecord | undefined {
  const active = rollouts.filter(isActive)
  const among = active.length > 0 && pick % 3 > 0 ? active : rollouts
  return among[pick % Math.max(1, among.length)]
}

/** Who gets what: version and reason, or nothing. */
export function outcome(skill: SkillRecord, range: string, context: ResolveContext): string {
  const attempt = tryResolve(skill, [parseRange(range)], context)
  return typeof attempt === 'function' ? 'nothing' : `${attempt.version.version} ${attempt.via}`
}

/** Everything every agent gets by every range, one line each. */
export function everyOutcome(skill: SkillRecord, asked: readonly string[] = ranges): string[] {
  return agents.flatMap((context) => asked.map((range) => `${context.agentId} ${range}: ${outcome(skill, range, context)}`))
}

/** Who gets a version by which range. */
export function exposure(skill: SkillRecord, version: string, asked: readonly string[] = ranges): string[] {
  const start = `: ${version} `
  return everyOutcome(skill, asked).filter((line) => line.includes(start))
}

/** Whether anybody gets a version by a range. */
export function isReached(skill: SkillRecord, version: string): boolean {
  return agents.some((context) => outcome(skill, only(version), context).startsWith(`${version} `))
}

// A counterexample that a person can read.
function readable(machine: Machine): Machine {
  const { skill, rollouts } = machine
  const versions = skill.versions.map((one) => `${one.version} ${one.status}${skill.stable.get(one.line) === one ? ' (stable)' : ''}`)
  const said = rollouts.map((one) => `${one.id}: ${one.candidate} for ${one.previousStable}, ${one.state} at ${one.basisPoints}`)
  return Object.defineProperty({ ...machine }, fc.toStringMethod, { value: () => [...versions, ...said].join('; ') })
}

function stepOf(basisPoints: number): { readonly basisPoints: number; readonly dwellMs: number } {
  return { basisPoints, dwellMs: 120_000 }
}

function timeAt(minute: number): string {
  return new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
}

function publish(machine: Machine, { pick }: Move): Taken {
  const { skill } = machine
  const missing = universe.filter((version) => !skill.byVersion.has(version))
  const version = missing[pick % Math.max(1, missing.length)]
  const versions = version === undefined ? [] : [versionOf({ version, status: 'candidate' })]
  const next = assembleSkill(skill, skill, { versions, lines: [], rollouts: [] })
  return { machine: { ...machine, skill: next, minute: machine.minute + 1 }, plan: nothingToDo, refused: undefined }
}

function planOf(machine: Machine, move: Move, order: Order): Plan {
  const known = facts(machine)
  const version = versionFor(machine, move)
  switch (move.command) {
    case 'start':
      return planStart(known, requestOf(machine, move, version), order)
    case 'release':
      return planRelease(known, version, order)
    case 'deprecate':
      return planDeprecate(known, { version }, order)
    case 'yank':
      return planYank(known, { version }, order)
    case 'unyank':
      return planUnyank(known, version, order)
    case 'block':
      // Final, so it is done seldom: a machine full of blocked versions shows nothing.
      return move.basisPoints % 4 === 0 ? planBlock(known, { version }, order) : nothingToDo
    case 'revert':
      return planRevert(known, { line: known.versions.find((one) => one.version === version)?.line ?? '', to: version }, order)
    default: {
      const rollout = rolloutFor(machine, move)
      return rollout === undefined ? nothingToDo : planOfRollout(machine, rollout, { move, order })
    }
  }
}

function planOfRollout(machine: Machine, rollout: RolloutRecord, { move, order }: { readonly move: Move; readonly order: Order }): Plan {
  const known = facts(machine)
  switch (move.command) {
    case 'set-percent':
      return planSetPercent(known, rollout, { basisPoints: move.basisPoints, order })
    case 'pause':
      return planPause(rollout, order)
    case 'resume':
      return planResume(known, rollout, order)
    case 'promote':
      return planPromote(known, rollout, order)
    case 'rollback':
      return planRollback(known, rollout, order)
    case 'cancel':
      return planCancel(rollout, order)
    default:
      return planAdvance(known, rollout, order.at)
  }
}

function requestOf(machine: Machine, move: Move, version: string): Parameters<typeof planStart>[1] {
  const id = `rollout-${machine.rollouts.length}`
  return {
    id,
    version,
    basisPoints: move.basisPoints,
    unit: move.unit,
    allow: move.pick % 2 === 0 ? ['vip'] : [],
    deny: move.deny,
    steps: move.steps,
    startAt: move.inMinutes === 0 ? null : timeAt(machine.minute + 1 + move.inMinutes),
    salt: `${id}-salt`,
  }
}
