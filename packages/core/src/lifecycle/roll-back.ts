import type { RolloutRecord } from '../records.ts'
import { Refusal } from '../refusal.ts'
import { parseExact } from '../version.ts'
import { changeStatus, findVersion, isActive, newestServable, nothingToDo, type Order, type Plan, type SkillFacts } from './facts.ts'
import { holdAutomation } from './hold-automation.ts'
import { planRevertTo } from './revert.ts'

/**
 * Plans a rollback, which is possible in every state: an active rollout ends and its candidate is yanked; a promoted one is
 * reverted to what it replaced; one that has ended otherwise stays as it is.
 */
export function planRollback(facts: SkillFacts, rollout: RolloutRecord, order: Order): Plan {
  if (isActive(rollout)) return endRollout(facts, rollout, order)
  if (rollout.state !== 'promoted') return nothingToDo
  const candidate = findVersion(facts, rollout.candidate)
  const stable = facts.stable.get(rollout.line) ?? null
  // Yanked or blocked since, or reverted: nobody gets it by a range, and that is what was asked for.
  if (candidate.status === 'yanked' || candidate.status === 'blocked') return nothingToDo
  const served = stable === null ? undefined : parseExact(stable)
  if (served !== undefined && served.compare(candidate.semver) > 0) {
    throw new Refusal(
      'ILLEGAL_TRANSITION',
      `Line ${rollout.line} of ${facts.name} serves ${stable ?? 'nothing'} by now, not ${rollout.candidate}.`,
      {
        hint: `revert the line to a version, or yank ${rollout.candidate} alone: repertoire revert ${facts.name} --line ${rollout.line} --to VERSION`,
        details: [{ rule: 'transition', got: 'rollback', allowed: ['revert', 'yank'] }],
      },
    )
  }
  const back: RolloutRecord = { ...rollout, state: 'rolled_back', updatedAt: order.at, endedAt: order.at }
  if (stable !== rollout.candidate) {
    // Yanked and unyanked since, it lies above what the line serves: no range gets it, and no later promotion may lift it.
    const yanked = changeStatus(candidate, 'yanked', { statusReason: order.reason, at: order.at })
    return { versions: [yanked], lines: [], rollouts: [back, ...holdAutomation(facts, [], order)] }
  }
  const replaced = facts.versions.find((version) => version.version === rollout.previousStable)
  // What it replaced may be gone by now, or was newer than it; then the next one below that ranges may get.
  const below = { below: candidate.semver }
  const to = newestServable(facts, rollout.line, replaced === undefined ? below : { ...below, upTo: replaced.semver })
  const plan = planRevertTo(facts, { line: rollout.line, to: to?.version ?? null }, order)
  return { ...plan, rollouts: [...plan.rollouts, back] }
}

/** Plans the end of an active rollout: nobody gets its candidate by a range any more, and automation elsewhere waits for a person. */
export function endRollout(facts: SkillFacts, rollout: RolloutRecord, order: Order): Plan {
  const candidate = findVersion(facts, rollout.candidate)
  return {
    versions: candidate.status === 'candidate' ? [changeStatus(candidate, 'yanked', { statusReason: order.reason, at: order.at })] : [],
    lines: [],
    rollouts: [
      { ...rollout, state: 'rolled_back', pausedReason: null, pausedNote: null, updatedAt: order.at, endedAt: order.at },
      ...holdAutomation(facts, [rollout.id], order),
    ],
  }
}
