import type { RolloutRecord } from '../records.ts'
import { findVersion, nothingToDo, type Plan, type SkillFacts } from './facts.ts'

/** When a rollout moves by itself next, as RFC 3339; undefined when it does not. */
export function nextMoveAt(rollout: RolloutRecord): string | undefined {
  if (rollout.state === 'scheduled') return rollout.startAt ?? undefined
  if (rollout.state !== 'running' || rollout.stepAt === null || rollout.steps[rollout.stepIndex + 1] === undefined) return undefined
  // Before the first step its own dwell counts: a share below it is held as long as it will be.
  const dwellMs = rollout.steps[Math.max(0, rollout.stepIndex)]?.dwellMs ?? 0
  return new Date(Date.parse(rollout.stepAt) + dwellMs).toISOString()
}

/** Plans the move that is due, or a pause where the ground has moved: automation never applies a step blind. */
export function planAdvance(facts: SkillFacts, rollout: RolloutRecord, at: string): Plan {
  const due = nextMoveAt(rollout)
  if (due === undefined || due > at) return nothingToDo
  const conflict = findConflict(facts, rollout)
  if (conflict !== undefined) return save({ ...rollout, state: 'paused', pausedReason: 'conflict', pausedNote: conflict, updatedAt: at })
  if (rollout.state === 'scheduled') return save({ ...rollout, state: 'running', startedAt: at, stepAt: at, updatedAt: at })
  const step = rollout.steps[rollout.stepIndex + 1]
  if (step === undefined) return nothingToDo
  return save({
    ...rollout,
    basisPoints: step.basisPoints,
    agreedBasisPoints: step.basisPoints,
    stepIndex: rollout.stepIndex + 1,
    stepAt: at,
    updatedAt: at,
  })
}

function findConflict(facts: SkillFacts, rollout: RolloutRecord): string | undefined {
  const stable = facts.stable.get(rollout.line) ?? null
  if (stable !== rollout.previousStable)
    return `line ${rollout.line} serves ${stable ?? 'nothing'} now, and served ${rollout.previousStable ?? 'nothing'} when this rollout began`
  if (rollout.basisPoints !== rollout.agreedBasisPoints)
    return `somebody set ${rollout.basisPoints / 100} %, where the steps had ${rollout.agreedBasisPoints / 100} %`
  const { connection } = findVersion(facts, rollout.candidate)
  return connection === null || facts.hasConnection(connection) ? undefined : `the connection ${connection} does not exist any more`
}

function save(rollout: RolloutRecord): Plan {
  return { ...nothingToDo, rollouts: [rollout] }
}
