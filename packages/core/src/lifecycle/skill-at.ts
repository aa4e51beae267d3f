import type { RolloutRecord, SkillRecord, VersionRecord } from '../records.ts'
import { assembleSkill } from '../snapshot.ts'
import type { Plan, StatusChange } from './facts.ts'

/**
 * A skill as it was after some changes, the oldest first: its versions are immutable, so their status, the lines and the
 * rollouts are all that has to be put back. Undefined when nothing had been published by then.
 */
export function skillAfter(skill: SkillRecord, changes: readonly Plan[]): SkillRecord | undefined {
  const statuses = new Map<string, StatusChange>()
  const pointers = new Map<string, string | null>()
  const rollouts = new Map<string, RolloutRecord>()
  for (const change of changes) {
    for (const version of change.versions) statuses.set(version.version, version)
    for (const line of change.lines) pointers.set(line.line, line.stable)
    for (const rollout of change.rollouts) rollouts.set(rollout.id, rollout)
  }
  if (statuses.size === 0) return undefined
  const versions = [...statuses.values()].flatMap((change): VersionRecord[] => {
    const version = skill.byVersion.get(change.version)
    return version === undefined ? [] : [{ ...version, ...change }]
  })
  return assembleSkill(skill, undefined, {
    versions,
    lines: [...pointers].map(([line, stable]) => ({ skillId: skill.id, line, stable })),
    rollouts: [...rollouts.values()],
  })
}
