import type { Released } from '@repertoire/contract'
import { absent, nameKey, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { releaseIn } from './release-in.ts'

/** Which version, and why now. */
export type ReleaseInput = { readonly name: string; readonly version: string; readonly reason: string }

/** Makes a candidate released; its line serves it at once when it is the newest. */
export async function releaseVersion(deps: Deps, caller: Caller, { name, version, reason }: ReleaseInput): Promise<Released> {
  requireRole(caller, 'operator')
  return deps.store.transaction(async (tx) => {
    const skill = await tx.skills.lock(nameKey(name))
    if (skill === undefined) throw absent(name)
    const result = await releaseIn({ deps, tx, caller }, { skillId: skill.id, name: skill.name, version, reason })
    return {
      name: skill.name,
      version,
      line: result.line,
      status: 'released',
      stable: result.stable,
      previous_stable: result.previousStable,
      changed: result.changed,
    }
  })
}
