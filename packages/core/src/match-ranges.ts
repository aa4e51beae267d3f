import { joinRanges, type ParsedRange } from './range.ts'
import type { RolloutRecord, SkillRecord, VersionRecord } from './records.ts'

/** What ranges select of a skill, whoever asks: the stable answer, and the candidates that would win over it, newest first. */
export type Match = {
  readonly baseline: VersionRecord | undefined
  readonly contenders: readonly { readonly rollout: RolloutRecord; readonly candidate: VersionRecord }[]
}

// A skill never changes, it is replaced; so what is remembered of it goes with it. Ranges come from clients: few are kept.
const maxRemembered = 32
const remembered = new WeakMap<SkillRecord, Map<string, Match>>()

/** Matches ranges against a skill; the same ranges against the same skill are matched once. */
export function matchRanges(skill: SkillRecord, ranges: readonly ParsedRange[]): Match {
  let known = remembered.get(skill)
  if (known === undefined) remembered.set(skill, (known = new Map()))
  const key = joinRanges(ranges)
  const found = known.get(key)
  if (found !== undefined) return found
  const match = matchFresh(skill, ranges)
  if (known.size >= maxRemembered) known.clear()
  known.set(key, match)
  return match
}

/** How many matches are remembered of a skill; never more than 32. */
export function rememberedMatches(skill: SkillRecord): number {
  return remembered.get(skill)?.size ?? 0
}

function matchFresh(skill: SkillRecord, ranges: readonly ParsedRange[]): Match {
  const satisfies = (version: VersionRecord): boolean => ranges.every((range) => range.range.test(version.semver))
  const baseline = skill.versions.find((version) => isServedByRange(skill, version) && satisfies(version))
  const contenders = skill.rollouts.flatMap((rollout) => {
    const candidate = skill.byVersion.get(rollout.candidate)
    if (candidate === undefined || !isExposing(rollout, candidate) || !satisfies(candidate)) return []
    return baseline === undefined || candidate.semver.compare(baseline.semver) > 0 ? [{ rollout, candidate }] : []
  })
  return { baseline, contenders }
}

/** Whether a range may choose a version: released or deprecated, no pre-release, and at or below its line's stable. */
export function isServedByRange(skill: SkillRecord, version: VersionRecord): boolean {
  if (version.status !== 'released' && version.status !== 'deprecated') return false
  if (version.semver.prerelease.length > 0) return false
  const ceiling = skill.stable.get(version.line)
  return ceiling !== undefined && version.semver.compare(ceiling.semver) <= 0
}

/** Whether a rollout exposes its candidate to anybody now: it has begun, and the candidate is one still. */
export function isExposing(rollout: RolloutRecord, candidate: VersionRecord): boolean {
  return rollout.startedAt !== null && candidate.status === 'candidate'
}
