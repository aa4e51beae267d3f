import type { SkillDetail } from '@repertoire/contract'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import { admitExact } from './admit-exact.ts'
import { showMeasured, showResolution, showVersion } from './show-version.ts'

/** One exact version, whatever ranges the instance declared. */
export function describeVersion(
  deps: Deps,
  visit: Visit,
  { name, version }: { readonly name: string; readonly version: string },
): SkillDetail {
  const { skill, resolved } = admitExact(deps, visit, { name, version })
  return showVersion(skill, resolved.version, {
    resolution: showResolution(resolved, version),
    measured: showMeasured(deps, skill, resolved.version),
  })
}
