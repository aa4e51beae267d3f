import type { Detail } from '@repertoire/contract'
import type { ParsedRange } from './range.ts'
import type { SkillRecord, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'

/** Who reads a hint: whoever sees everything, or holds the tags of a version, is told of it. */
export type HintReader = { readonly seesAll?: boolean; readonly holds: (version: VersionRecord) => boolean }

/** The refusal for ranges that no version satisfies, with the true cause in its hint. */
export function explainNoMatch(skill: SkillRecord, ranges: readonly ParsedRange[], reader: HintReader): Refusal {
  const asked = ranges.map((range) => range.text)
  const satisfies = (version: VersionRecord): boolean => ranges.every((range) => range.range.test(version.semver))
  // Nobody learns from a hint of a version that it may not call; a candidate of what it may call is a true cause.
  const isTold = (version: VersionRecord): boolean => reader.seesAll === true || reader.holds(version)
  const fitting = skill.versions.filter((version) => satisfies(version) && isTold(version))
  const message =
    asked.length > 1
      ? `No version of ${skill.name} satisfies all of ${asked.join(' and ')}.`
      : `No version of ${skill.name} satisfies ${asked[0] ?? '*'}.`
  const causes = [...fitting.slice(0, 5).map((version) => causeOf(skill, version)), stableCause(skill, isTold)].filter(
    (cause) => cause !== undefined,
  )
  const nearest = asked.length > 1 ? undefined : nearestRange(skill, isTold)
  const sources =
    asked.length > 1
      ? 'all of them bind: the range of the request, Repertoire-Requires, and what this instance declared (repertoire self shows it)'
      : undefined
  const details: Detail[] = causes.map((cause) => ({ reason: cause }))
  const hint = [sources, ...causes, nearest === undefined ? undefined : `try ${nearest}`].filter((part) => part !== undefined).join('; ')
  return new Refusal('NO_MATCHING_VERSION', message, { hint: hint === '' ? 'nothing of this skill is released yet' : hint, details })
}

function causeOf(skill: SkillRecord, version: VersionRecord): string | undefined {
  if (version.status === 'yanked') return `${version.version} was yanked: ${version.statusReason ?? 'no reason was given'}`
  if (version.status === 'blocked') return `${version.version} was blocked: ${version.statusReason ?? 'no reason was given'}`
  if (version.status === 'candidate') {
    const rollout = skill.rollouts.find((active) => active.candidate === version.version)
    return rollout === undefined || rollout.startedAt === null
      ? `${version.version} is a candidate that no rollout exposes`
      : `${version.version} is a candidate at ${rollout.basisPoints / 100} %`
  }
  const ceiling = skill.stable.get(version.line)
  return ceiling !== undefined && version.semver.compare(ceiling.semver) > 0
    ? `${version.version} is above its line's stable ${ceiling.version}`
    : undefined
}

type IsTold = (version: VersionRecord) => boolean

function stableCause(skill: SkillRecord, isTold: IsTold): string | undefined {
  const told = [...skill.stable].filter(([, version]) => isTold(version))
  if (told.length === 0) return undefined
  return `stable: ${told.map(([line, version]) => `${version.version} (line ${line})`).join(', ')}`
}

function nearestRange(skill: SkillRecord, isTold: IsTold): string | undefined {
  const newest = [...skill.stable.values()].filter(isTold).sort((a, b) => b.semver.compare(a.semver))[0]
  return newest === undefined ? undefined : `^${newest.version}`
}
