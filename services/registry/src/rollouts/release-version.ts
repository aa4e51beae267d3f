import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planRelease, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which version to release, and why now. */
export type ReleaseVersionInput = { readonly name: string; readonly version: string; readonly given: Given; readonly dryRun: boolean }

/** Makes a candidate released; its line serves it at once when it is the newest. */
export function releaseVersion(deps: Deps, caller: Caller, { ...input }: ReleaseVersionInput): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    ...input,
    action: 'version.release',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order) => planRelease(facts, input.version, order),
  })
}
