import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planPromote, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Makes the candidate the line's stable version, for everybody, at once. */
export function promoteRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun }: { readonly id: string; readonly given: Given; readonly dryRun: boolean },
): Promise<Answer<RolloutChanged | DryRunReport>> {
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.promote',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order, rollout) => planPromote(facts, rollout, order),
  })
}
