import type { SkillRecord, VersionRecord } from './records.ts'

/** Who wants to pin. */
export type Pinner = { readonly agentId: string; readonly team: string | null; readonly pinsCandidates: boolean }

/**
 * Whether someone may pin a version. What never was released, also after its rollback, is for allow-listed agents, its
 * publisher's team and operators; a rollout's deny list binds pins too.
 */
export function mayPin(skill: SkillRecord, version: VersionRecord, pinner: Pinner): boolean {
  const unreleased = version.status === 'candidate' || (version.status === 'yanked' && version.formerStatus === 'candidate')
  if (!unreleased) return true
  const rollout = skill.rollouts.find((active) => active.candidate === version.version)
  if (rollout?.deny.includes(pinner.agentId) === true) return false
  if (pinner.pinsCandidates || rollout?.allow.includes(pinner.agentId) === true) return true
  return version.publishedBy === pinner.agentId || (pinner.team !== null && pinner.team === version.publisherTeam)
}
