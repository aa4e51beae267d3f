import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planBlock, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which version to withdraw for good, and what replaces it. */
export type BlockVersionInput = {
  readonly name: string
  readonly version: string
  readonly given: Given
  readonly dryRun: boolean
  readonly replacement: string | undefined
}

/** Withdraws a version from everybody, for good. */
export function blockVersion(
  deps: Deps,
  caller: Caller,
  { replacement, ...input }: BlockVersionInput,
): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    ...input,
    action: 'version.block',
    isUrgent: true,
    needsMatch: false,
    plan: (facts, order) => planBlock(facts, { version: input.version, replacement: replacement ?? null }, order),
  })
}
