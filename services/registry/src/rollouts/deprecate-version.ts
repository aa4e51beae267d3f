import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planDeprecate, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which version is on its way out, until when, and what replaces it. */
export type DeprecateVersionInput = {
  readonly name: string
  readonly version: string
  readonly given: Given
  readonly dryRun: boolean
  readonly sunset: string | undefined
  readonly replacement: string | undefined
}

/** Warns everybody who gets a version; nobody gets another one by it. */
export function deprecateVersion(
  deps: Deps,
  caller: Caller,
  { sunset, replacement, ...input }: DeprecateVersionInput,
): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    ...input,
    action: 'version.deprecate',
    isUrgent: false,
    needsMatch: true,
    plan: (facts, order) =>
      planDeprecate(
        facts,
        {
          version: input.version,
          sunsetAt: sunset === undefined ? null : new Date(sunset).toISOString(),
          replacement: replacement ?? null,
        },
        order,
      ),
  })
}
