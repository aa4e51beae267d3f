import type { DryRunReport, LineChanged } from '@repertoire/contract'
import { nameKey, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { carryOut, type Command, type Given } from './carry-out.ts'
import type { Answer } from './command-rollout.ts'
import { showPlan } from './show-plan.ts'
import { showLineChanged } from './show-rollout.ts'

/** A command on one version of a skill, or on the line it is in. */
export type VersionCommandInput = Omit<Command, 'rolloutId' | 'subject' | 'skill'> & {
  readonly name: string
  readonly version: string
  readonly given: Given
  readonly dryRun: boolean
}

/** Shows or carries out a command on a version or a line. */
export async function commandVersion(
  deps: Deps,
  caller: Caller,
  { name, version, given, dryRun, ...rest }: VersionCommandInput,
): Promise<Answer<LineChanged | DryRunReport>> {
  const skill = deps.snapshot().skills.get(nameKey(name))?.name ?? name
  const command: Command = { ...rest, skill, subject: `${skill}@${version}` }
  if (dryRun) {
    const { report, ...revisions } = await showPlan(deps, caller, { command, given })
    return { data: report, ...revisions }
  }
  const done = await carryOut(deps, caller, { command, given })
  return {
    data: showLineChanged(done, version),
    skillRevision: done.revision,
    revision: Math.max(done.revision, deps.snapshot().revision),
  }
}
