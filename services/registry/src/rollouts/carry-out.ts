import {
  absent,
  changesAnything,
  nameKey,
  Refusal,
  requireRole,
  type Caller,
  type Order,
  type Plan,
  type RolloutRecord,
  type SkillFacts,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { LockedSkill, Propagation } from '../stored.ts'
import { requireMatch } from './require-match.ts'

/** How a command was given: why, on which reading of the skill, and whether to wait for all replicas. */
export type Given = {
  readonly reason: string
  readonly ifMatch: string | undefined
  readonly waitMs: number | undefined
  /** Permission tags that were named as added. */
  readonly acceptTags: readonly string[]
}

/** A command on a skill: what it is called, and what it plans. */
export type Command = {
  readonly action: string
  readonly subject: string
  readonly skill: string
  /** The rollout it is about, when it is about one. */
  readonly rolloutId?: string
  /** Whether it takes something away from somebody: then it gets through when others wait, and needs no If-Match. */
  readonly isUrgent: boolean
  readonly needsMatch: boolean
  readonly plan: (facts: SkillFacts, order: Order, rollout: RolloutRecord | undefined) => Plan
}

/** What a command did: the plan that was carried out, upon which facts, and from which revision it holds. */
export type CarriedOut = {
  readonly skill: LockedSkill
  readonly facts: SkillFacts
  readonly plan: Plan
  readonly rollout: RolloutRecord | undefined
  readonly changed: boolean
  readonly revision: number
  readonly propagation: Propagation | undefined
}

/** Carries a command out: one transaction that locks the skill, plans upon its facts, writes the plan and the audit event. */
export async function carryOut(
  deps: Deps,
  caller: Caller,
  { command, given }: { readonly command: Command; readonly given: Given },
): Promise<CarriedOut> {
  requireRole(caller, 'operator')
  if (command.needsMatch && given.ifMatch === undefined)
    throw new Refusal(
      'PRECONDITION_REQUIRED',
      `${command.action} needs If-Match, so that it is not carried out on a skill that has changed.`,
      {
        hint: 'send the ETag of GET /v1/skills/{name} or of the rollout, or If-Match: * for whatever is there',
      },
    )
  const done = await deps.store.transaction(
    async (tx) => {
      const skill = await tx.skills.lock(nameKey(command.skill))
      if (skill === undefined) throw absent(command.skill)
      if (given.ifMatch !== undefined) await requireMatch(tx, skill, given.ifMatch)
      const facts = await tx.lifecycle.facts(skill)
      const rollout = command.rolloutId === undefined ? undefined : (await tx.rollouts.find(command.rolloutId))?.rollout
      const at = deps.clock.now()
      const plan = command.plan(facts, { by: caller.id, at: at.toISOString(), reason: given.reason, acceptTags: given.acceptTags }, rollout)
      if (!changesAnything(plan)) return { skill, facts, plan, rollout, changed: false, revision: skill.revision }
      await tx.lifecycle.apply(skill, plan)
      await tx.audit.append({
        caller,
        action: command.action,
        subject: command.subject,
        skill: skill.name,
        reason: given.reason,
        before: stateBefore(facts, plan),
        after: plan,
        change: plan,
        at,
      })
      return { skill, facts, plan, rollout, changed: true, revision: await tx.revision() }
    },
    { isUrgent: command.isUrgent, line: nameKey(command.skill) },
  )
  // It is done: that nobody can be asked who obeys by now changes nothing of that.
  const propagation =
    given.waitMs === undefined ? undefined : await deps.replicas.obeying(done.revision, given.waitMs).catch(() => nobodyAsked)
  return { ...done, rollout: done.plan.rollouts.find(({ id }) => id === command.rolloutId) ?? done.rollout, propagation }
}

const nobodyAsked: Propagation = { applied: [], lagging: [], unreachable: ['(the database is away, so that nobody could be asked)'] }

// Only what the plan touches: the audit log is read by people.
function stateBefore(facts: SkillFacts, plan: Plan): object {
  const versions = new Set(plan.versions.map(({ version }) => version))
  const rollouts = new Set(plan.rollouts.map(({ id }) => id))
  return {
    versions: facts.versions.filter(({ version }) => versions.has(version)).map(({ version, status }) => ({ version, status })),
    lines: plan.lines.map(({ line }) => ({ line, stable: facts.stable.get(line) ?? null })),
    rollouts: facts.rollouts.filter(({ id }) => rollouts.has(id)).map(({ id, state, basisPoints }) => ({ id, state, basisPoints })),
  }
}
