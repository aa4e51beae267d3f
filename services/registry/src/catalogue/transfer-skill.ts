import type { Transferred } from '@repertoire/contract'
import { absent, nameKey, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Which skill, who owns it from now on, and why. */
export type TransferInput = { readonly name: string; readonly team: string | null; readonly reason: string }

/** Gives a skill to another team: its publishers see and publish it, those of the team before no longer. */
export async function transferSkill(deps: Deps, caller: Caller, { name, team, reason }: TransferInput): Promise<Transferred> {
  requireRole(caller, 'admin')
  return deps.store.transaction(async (tx) => {
    const skill = await tx.skills.lock(nameKey(name))
    if (skill === undefined) throw absent(name)
    const answer = { name: skill.name, team, previous_team: skill.team }
    if (skill.team === team) return { ...answer, changed: false }
    await tx.skills.setTeam(skill.id, team)
    await tx.audit.append({
      caller,
      action: 'skill.transfer',
      subject: skill.name,
      skill: skill.name,
      reason,
      before: { team: skill.team },
      after: { team },
      at: deps.clock.now(),
    })
    return { ...answer, changed: true }
  })
}
