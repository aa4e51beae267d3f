import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planPause, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Keeps a rollout at its share, and takes no further step. */
export function pauseRollout(
  deps: Deps,
  caller: Caller,
  { id, given, dryRun }: { readonly id: string; readonly given: Given; readonly dryRun: boolean },
): Promise<Answer<RolloutChanged | DryRunReport>> {
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.pause',
    isUrgent: true,
    needsMatch: false,
    plan: (_, order, rollout) => planPause(rollout, order),
  })
}
