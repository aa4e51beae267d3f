import { isBelow, keyOf, type Interval } from './intervals.ts'
import type { ParsedRange } from './range.ts'
import type { Contender, RolloutRecord, SkillRecord, VersionRecord } from './records.ts'

/** What ranges select of a skill, whoever asks: the stable answer, and the candidates that would win over it, newest first. */
export type Match = { readonly baseline: VersionRecord | undefined; readonly contenders: readonly Contender[] }

const nobody: readonly Contender[] = []

/** Matches ranges against a skill, by halving what it serves: nothing is remembered, since ranges come from clients. */
export function matchRanges(skill: SkillRecord, ranges: readonly ParsedRange[]): Match {
  const baseline = newestWithin(skill, ranges)
  if (skill.exposed.length === 0) return { baseline, contenders: nobody }
  const contenders = skill.exposed.filter(
    ({ candidate }) => (baseline === undefined || isBelow(baseline.semver, candidate.semver)) && areMet(ranges, candidate),
  )
  return { baseline, contenders }
}

/** Whether a range may choose a version: released or deprecated, no pre-release, and at or below its line's stable. */
export function isServedByRange(skill: Pick<SkillRecord, 'stable'>, version: VersionRecord): boolean {
  if (version.status !== 'released' && version.status !== 'deprecated') return false
  if (version.semver.prerelease.length > 0) return false
  const ceiling = skill.stable.get(version.line)
  return ceiling !== undefined && version.semver.compare(ceiling.semver) <= 0
}

/** Whether a rollout exposes its candidate to anybody now: it has begun, and the candidate is one still. */
export function isExposing(rollout: RolloutRecord, candidate: VersionRecord): boolean {
  return rollout.startedAt !== null && candidate.status === 'candidate'
}

function areMet(ranges: readonly ParsedRange[], { semver }: VersionRecord): boolean {
  if (semver.prerelease.length > 0) return false
  return ranges.every(({ intervals }) => intervals.some(({ from, below }) => !isBelow(semver, from) && isBelow(semver, below)))
}

// Each range in turn skips what it does not choose, until all of them agree on one version.
function newestWithin(skill: SkillRecord, ranges: readonly ParsedRange[]): VersionRecord | undefined {
  let index = 0
  let agreed = 0
  for (let turn = 0; agreed < ranges.length; turn += 1) {
    const range = ranges[turn % ranges.length]
    if (range === undefined) break
    const next = firstWithin(skill, range.intervals, index)
    agreed = next === index ? agreed + 1 : 1
    index = next
  }
  return skill.served[index]
}

function firstWithin(skill: SkillRecord, intervals: readonly Interval[], start: number): number {
  const { served, servedKeys } = skill
  let found = served.length
  for (const { from, below } of intervals) {
    const index = firstBelow(skill, below, start)
    const key = servedKeys[index]
    const version = served[index]
    if (index >= found || key === undefined || version === undefined || key < from.key) continue
    if (key > from.key || !isBelow(version.semver, from)) found = index
  }
  return found
}

// The keys lie together in memory, and the versions do not: those are looked at only where keys are equal.
function firstBelow({ served, servedKeys }: SkillRecord, below: Interval['below'], start: number): number {
  let low = start
  let high = servedKeys.length
  // A few are walked through faster than they are halved: the processor guesses the walk right.
  while (high - low > 16) {
    const middle = (low + high) >> 1
    if ((servedKeys[middle] ?? 0) > below.key) low = middle + 1
    else high = middle
  }
  while (low < high && (servedKeys[low] ?? 0) > below.key) low += 1
  for (; servedKeys[low] === below.key; low += 1) {
    const version = served[low]
    if (version === undefined || isBelow(version.semver, below)) break
  }
  return low
}

/** What ranges meet of a skill, found once: what it serves, newest first, with the key of each, and the candidates it exposes. */
export function prepareMatches(
  skill: Pick<SkillRecord, 'versions' | 'byVersion' | 'stable' | 'rollouts'>,
): Pick<SkillRecord, 'served' | 'servedKeys' | 'exposed'> {
  const served = skill.versions.filter((version) => isServedByRange(skill, version))
  const exposed = skill.rollouts.flatMap((rollout): Contender[] => {
    const candidate = skill.byVersion.get(rollout.candidate)
    return candidate !== undefined && isExposing(rollout, candidate) ? [{ rollout, candidate }] : []
  })
  return { served, servedKeys: served.map(({ semver }) => keyOf(semver)), exposed: exposed.length === 0 ? nobody : exposed }
}
