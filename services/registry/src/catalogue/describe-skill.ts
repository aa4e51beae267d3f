import type { SkillDetail } from '@repertoire/contract'
import { admit, joinRanges } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'
import { showMeasured, showResolution, showVersion } from './show-version.ts'

/** Which skill, and the range that binds this read. */
export type DescribeInput = { readonly name: string; readonly range: string | undefined }

/** One skill as the caller gets it: manifest, instructions, schemas and why this version. */
export function describeSkill(
  deps: Deps,
  visit: Visit,
  { name, range }: DescribeInput,
): { readonly detail: SkillDetail; readonly revision: number; readonly skillRevision: number } {
  const snapshot = deps.snapshot()
  const { skill, resolved, ranges } = admit(snapshot, name, askingOf(visit, deps.clock.now().getTime(), { range }))
  if (visit.caller.role === 'agent')
    deps.shown.note({
      kind: 'load',
      agentId: visit.caller.id,
      session: visit.session,
      revision: snapshot.revision,
      query: skill.name,
      items: [`${skill.name}@${resolved.version.version}`],
    })
  return {
    detail: showVersion(skill, resolved.version, {
      resolution: showResolution(resolved, joinRanges(ranges)),
      measured: showMeasured(deps, skill, resolved.version),
    }),
    revision: snapshot.revision,
    skillRevision: skill.revision,
  }
}
