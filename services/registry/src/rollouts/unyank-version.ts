import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planUnyank, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which version to give back, and why. */
export type UnyankVersionInput = { readonly name: string; readonly version: string; readonly given: Given; readonly dryRun: boolean }

/** Takes a yank back: the version is what it was before; what its line serves stays as it is. */
export function unyankVersion(deps: Deps, caller: Caller, { ...input }: UnyankVersionInput): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    ...input,
    action: 'version.unyank',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order) => planUnyank(facts, input.version, order),
  })
}
