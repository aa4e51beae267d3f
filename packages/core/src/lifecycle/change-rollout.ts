import type { RolloutRecord } from '../records.ts'
import { findVersion, nothingToDo, type Order, type Plan, type SkillFacts } from './facts.ts'
import { requireLegal } from './legal.ts'
import { requireConnection } from './start-rollout.ts'

/** Plans another percentage, by hand; automation will notice that it was not its own. */
export function planSetPercent(
  facts: SkillFacts,
  rollout: RolloutRecord,
  { basisPoints, order }: { readonly basisPoints: number; readonly order: Order },
): Plan {
  requireLegal(rollout, 'set-percent')
  if (basisPoints === rollout.basisPoints) return nothingToDo
  if (basisPoints > rollout.basisPoints) requireConnection(facts, findVersion(facts, rollout.candidate))
  // Before it has begun, or with no step left, there is nothing that automation could get wrong by it.
  const isPlain = rollout.startedAt === null || rollout.stepIndex >= rollout.steps.length - 1
  const agreedBasisPoints = isPlain ? basisPoints : rollout.agreedBasisPoints
  return save({ ...rollout, basisPoints, agreedBasisPoints, updatedAt: order.at })
}

/** Plans a pause: the share stays as it is, and no step is taken; pausing again changes nothing. */
export function planPause(rollout: RolloutRecord, order: Order): Plan {
  if (rollout.state === 'paused') return nothingToDo
  requireLegal(rollout, 'pause')
  return save({ ...rollout, state: 'paused', pausedReason: 'manual', pausedNote: order.reason, updatedAt: order.at })
}

/** Plans to go on after any pause, from the share it has now; the step in force begins anew. */
export function planResume(facts: SkillFacts, rollout: RolloutRecord, order: Order): Plan {
  requireLegal(rollout, 'resume')
  requireConnection(facts, findVersion(facts, rollout.candidate))
  const isLater = rollout.startedAt === null && rollout.startAt !== null && rollout.startAt > order.at
  return save({
    ...rollout,
    state: isLater ? 'scheduled' : 'running',
    pausedReason: null,
    pausedNote: null,
    // Whoever resumes has seen what the line serves and which share is exposed: automation goes on from there.
    previousStable: facts.stable.get(rollout.line) ?? null,
    agreedBasisPoints: rollout.basisPoints,
    stepIndex: rollout.steps.findLastIndex((step) => step.basisPoints <= rollout.basisPoints),
    stepAt: isLater ? null : order.at,
    startedAt: isLater ? null : (rollout.startedAt ?? order.at),
    updatedAt: order.at,
  })
}

/** Plans to end a rollout without a verdict: its candidate stays a candidate. */
export function planCancel(rollout: RolloutRecord, order: Order): Plan {
  requireLegal(rollout, 'cancel')
  return save({ ...rollout, state: 'cancelled', pausedReason: null, pausedNote: null, updatedAt: order.at, endedAt: order.at })
}

function save(rollout: RolloutRecord): Plan {
  return { versions: [], lines: [], rollouts: [rollout] }
}
