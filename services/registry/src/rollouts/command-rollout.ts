import type { DryRunReport, RolloutChanged, Warning } from '@repertoire/contract'
import { Refusal, requireRole, type Caller, type Order, type Plan, type RolloutRecord, type SkillFacts } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { carryOut, type CarriedOut, type Command, type Given } from './carry-out.ts'
import { showPlan } from './show-plan.ts'
import { showRolloutChanged } from './show-rollout.ts'

/** What a command answers, with the revisions that its headers name. */
export type Answer<T> = {
  readonly data: T
  readonly skillRevision: number
  readonly revision: number
  readonly warnings?: readonly Warning[]
}

/** A command on one rollout. */
export type RolloutCommandInput = Pick<Command, 'action' | 'isUrgent' | 'needsMatch'> & {
  readonly id: string
  readonly given: Given
  readonly dryRun: boolean
  readonly plan: (facts: SkillFacts, order: Order, rollout: RolloutRecord) => Plan
}

/** Shows or carries out a command on a rollout, found by its id whether or not it has ended. */
export async function commandRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun, plan, ...rest }: RolloutCommandInput,
): Promise<Answer<RolloutChanged | DryRunReport>> {
  requireRole(caller, 'operator')
  const stored = isUuid(id) ? await deps.store.rollout(id.toLowerCase(), { isUrgent: rest.isUrgent }) : undefined
  if (stored === undefined) throw noRollout(id)
  const command: Command = {
    ...rest,
    subject: `${stored.skill}@${stored.rollout.candidate}`,
    skill: stored.skill,
    rolloutId: id.toLowerCase(),
    plan: (facts, order, rollout) => plan(facts, order, rollout ?? stored.rollout),
  }
  if (dryRun) {
    const { report, ...revisions } = await showPlan(deps, caller, { command, given })
    return { data: report, ...revisions }
  }
  const done = await carryOut(deps, caller, { command, given })
  return {
    data: showRolloutChanged(done, done.rollout ?? stored.rollout),
    warnings: servedAllTheSame(done),
    skillRevision: done.revision,
    revision: Math.max(done.revision, deps.snapshot().revision),
  }
}

// A rollout that has ended has nothing to take back; who asks for it may think otherwise.
function servedAllTheSame({ changed, rollout, facts }: CarriedOut): Warning[] {
  const candidate = facts.versions.find(({ version }) => version === rollout?.candidate)
  if (changed || candidate === undefined || !(candidate.status === 'released' || candidate.status === 'deprecated')) return []
  const message = `Nothing was changed: this rollout is ${rollout?.state.replace('_', ' ')}, and ${candidate.version} was released since. Yank it, or revert line ${candidate.line}.`
  return [{ code: 'served_all_the_same', message }]
}

/** The refusal for a rollout that is not there. */
export function noRollout(id: string): Refusal {
  return new Refusal('NOT_FOUND', `There is no rollout ${id.slice(0, 64)}.`, {
    hint: 'GET /v1/rollouts lists them (repertoire canary status)',
  })
}

/** Whether a text could be the id of a rollout. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
