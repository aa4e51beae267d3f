import type { RolloutRecord } from '../records.ts'
import type { Order, SkillFacts } from './facts.ts'

/** The rollouts of a skill that would move by themselves, held until a person resumes them: somebody has just stepped back. */
export function holdAutomation(facts: SkillFacts, except: readonly string[], order: Order): RolloutRecord[] {
  return facts.rollouts
    .filter((other) => !except.includes(other.id) && movesByItself(other))
    .map((other) => ({ ...other, state: 'paused', pausedReason: 'held', pausedNote: order.reason, updatedAt: order.at }))
}

function movesByItself(rollout: RolloutRecord): boolean {
  return rollout.state === 'scheduled' || (rollout.state === 'running' && rollout.stepIndex < rollout.steps.length - 1)
}
