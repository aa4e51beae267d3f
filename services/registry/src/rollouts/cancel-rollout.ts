import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planCancel, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Ends a rollout without a verdict; its candidate stays one. */
export function cancelRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun }: { readonly id: string; readonly given: Given; readonly dryRun: boolean },
): Promise<Answer<RolloutChanged | DryRunReport>> {
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.cancel',
    isUrgent: false,
    needsMatch: true,
    plan: (_, order, rollout) => planCancel(rollout, order),
  })
}
