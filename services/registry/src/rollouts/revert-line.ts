import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { planRevert, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { commandVersion } from './command-version.ts'

/** Which line, and the version it is to serve again. */
export type RevertInput = {
  readonly name: string
  readonly line: string
  readonly to: string
  readonly given: Given
  readonly dryRun: boolean
}

/** Makes a line serve an older version again; what that steps over is yanked, and rollouts above it end. */
export function revertLine(
  deps: Deps,
  caller: Caller,
  { name, line, to, given, dryRun }: RevertInput,
): Promise<Answer<LineChanged | DryRunReport>> {
  return commandVersion(deps, caller, {
    name,
    version: to,
    given,
    dryRun,
    action: 'line.revert',
    // It takes something away like a rollback, and needs If-Match like every choice between versions.
    isUrgent: true,
    needsMatch: true,
    plan: (facts, order) => planRevert(facts, { line, to }, order),
  })
}
