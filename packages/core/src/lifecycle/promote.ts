import { parseExact } from '../version.ts'
import type { RolloutRecord } from '../records.ts'
import { requireAcceptedTags, servedBefore } from './added-tags.ts'
import { changeStatus, findVersion, type Order, type Plan, type SkillFacts, type VersionFacts } from './facts.ts'
import { requireLegal } from './legal.ts'
import { requireConnection } from './start-rollout.ts'

/** Plans to make a candidate released and, where it is the newest, what its line serves. */
export function planPromote(facts: SkillFacts, rollout: RolloutRecord, order: Order): Plan {
  requireLegal(rollout, 'promote')
  const candidate = findVersion(facts, rollout.candidate)
  requireConnection(facts, candidate)
  requireAcceptedTags(facts, { version: candidate, before: servedBefore(facts, candidate) }, order)
  const previousStable = facts.stable.get(rollout.line) ?? null
  return {
    versions: [changeStatus(candidate, 'released', { statusReason: null, at: order.at })],
    lines: raisePointer(candidate, previousStable),
    rollouts: [
      { ...rollout, state: 'promoted', previousStable, pausedReason: null, pausedNote: null, updatedAt: order.at, endedAt: order.at },
    ],
  }
}

/** Where a line points once a version is released: to it, unless it is a pre-release or something newer is served. */
export function raisePointer(version: VersionFacts, stable: string | null): Plan['lines'] {
  const current = stable === null ? undefined : parseExact(stable)
  const isNewest = version.semver.prerelease.length === 0 && (current === undefined || version.semver.compare(current) > 0)
  return isNewest ? [{ line: version.line, stable: version.version }] : []
}
