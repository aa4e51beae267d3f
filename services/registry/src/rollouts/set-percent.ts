import type { DryRunReport, RolloutChanged } from '@repertoire/contract'
import { planSetPercent, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import { commandRollout, type Answer } from './command-rollout.ts'

/** Which rollout, and the share it is to expose, from 0 to 100. */
export type SetPercentInput = { readonly id: string; readonly percent: number; readonly given: Given; readonly dryRun: boolean }

/** Changes the share a running rollout exposes; units move only to or from its candidate. */
export function setPercent(
  deps: Deps,
  caller: Caller,
  { id, percent, given, dryRun }: SetPercentInput,
): Promise<Answer<RolloutChanged | DryRunReport>> {
  const basisPoints = Math.round(percent * 100)
  return commandRollout(deps, caller, {
    id,
    given,
    dryRun,
    action: 'rollout.set_percent',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order, rollout) => planSetPercent(facts, rollout, { basisPoints, order }),
  })
}
