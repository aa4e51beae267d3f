import { changesAnything, nameKey, nextMoveAt, planAdvance, systemCaller, type RolloutRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** One rollout that moved by itself, and how; or what kept it from moving. */
export type Advanced = { readonly rollout: string; readonly action: string } | { readonly rollout: string; readonly fault: unknown }

/** Takes every step that is due: starts what was scheduled, raises shares, and pauses where somebody changed the ground. */
export async function advanceRollouts(deps: Deps): Promise<Advanced[]> {
  const at = deps.clock.now().toISOString()
  const due = deps
    .snapshot()
    .ordered.flatMap((skill) => skill.rollouts.map((rollout) => ({ skill: skill.name, rollout })))
    .filter(({ rollout }) => (nextMoveAt(rollout) ?? '~') <= at)
  const advanced: Advanced[] = []
  for (const { skill, rollout } of due) {
    try {
      const action = await advanceOne(deps, skill, rollout.id)
      if (action !== undefined) advanced.push({ rollout: rollout.id, action })
    } catch (fault) {
      advanced.push({ rollout: rollout.id, fault })
    }
  }
  return advanced
}

// All replicas look; the skill's lock lets one of them move it, and the others find that nothing is due any more.
async function advanceOne(deps: Deps, skillName: string, id: string): Promise<string | undefined> {
  return deps.store.transaction(async (tx) => {
    const skill = await tx.skills.lock(nameKey(skillName))
    if (skill === undefined) return undefined
    const facts = await tx.lifecycle.facts(skill)
    const rollout = facts.rollouts.find((active) => active.id === id)
    const at = deps.clock.now()
    if (rollout === undefined) return undefined
    const plan = planAdvance(facts, rollout, at.toISOString())
    const [next] = plan.rollouts
    if (!changesAnything(plan) || next === undefined) return undefined
    const action = actionOf(rollout, next)
    await tx.lifecycle.apply(skill, plan)
    await tx.audit.append({
      caller: systemCaller,
      action,
      subject: `${skill.name}@${rollout.candidate}`,
      skill: skill.name,
      reason: next.pausedNote ?? `the plan of ${rollout.createdBy}: ${next.basisPoints / 100} %`,
      before: { state: rollout.state, basisPoints: rollout.basisPoints },
      after: plan,
      change: plan,
      at,
    })
    return action
  })
}

function actionOf(before: RolloutRecord, after: RolloutRecord): string {
  if (after.state === 'paused') return 'rollout.pause'
  return before.state === 'scheduled' ? 'rollout.begin' : 'rollout.step'
}
