import type { SkillRecord, VersionRecord } from './records.ts'

/** Who wants to pin. */
export type Pinner = {
  readonly agentId: string
  readonly team: string | null
  readonly pinsCandidates: boolean
  /** Whether it asks for a user: then what it owns is not the user's. */
  readonly isNarrowed?: boolean
}

/**
 * Whether someone may pin a version. What never was released, also after its rollback, is for allow-listed agents, the
 * team that owns the skill and operators; a rollout's deny list binds pins too.
 */
export function mayPin(skill: SkillRecord, version: VersionRecord, pinner: Pinner): boolean {
  const unreleased = version.status === 'candidate' || (version.status === 'yanked' && version.formerStatus === 'candidate')
  if (!unreleased) return true
  const rollout = skill.rollouts.find((active) => active.candidate === version.version)
  if (rollout?.deny.includes(pinner.agentId) === true) return false
  if (pinner.pinsCandidates || rollout?.allow.includes(pinner.agentId) === true) return true
  if (pinner.isNarrowed === true) return false
  // A skill that was given to another team is that team's, whoever published what there is of it.
  const owner = skill.team ?? version.publisherTeam
  return owner === null ? version.publishedBy === pinner.agentId : pinner.team === owner
}
