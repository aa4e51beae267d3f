import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planYank, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which version to withdraw from ranges, and what replaces it. */
export type YankVersionInput = {
  readonly name: string
  readonly version: string
  readonly given: Given
  readonly dryRun: boolean
  readonly replacement: string | undefined
}

/** Withdraws a version from ranges; who pins it still gets it, with a warning. */
export function yankVersion(
  deps: Deps,
  caller: Caller,
  { replacement, ...input }: YankVersionInput,
): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    ...input,
    action: 'version.yank',
    isUrgent: true,
    needsMatch: true,
    plan: (facts, order) => planYank(facts, { version: input.version, replacement: replacement ?? null }, order),
  })
}
