import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planResume, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Goes on with a rollout after any pause. */
export function resumeRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun }: { readonly id: string; readonly given: Given; readonly dryRun: boolean },
): Promise<Answer<RolloutChanged | DryRunReport>> {
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.resume',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order, rollout) => planResume(facts, rollout, order),
  })
}
