import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planRollback, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Takes the candidate from everybody who gets it by a range; after a promotion the line serves what it replaced. */
export function rollBackRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun }: { readonly id: string; readonly given: Given; readonly dryRun: boolean },
): Promise<Answer<RolloutChanged | DryRunReport>> {
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.rollback',
    isUrgent: true,
    needsMatch: false,
    plan: (facts, order, rollout) => planRollback(facts, rollout, order),
  })
}
