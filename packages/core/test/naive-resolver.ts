import type { ResolveContext, RolloutRecord, SkillRecord, VersionRecord } from '@repertoire/core'
import { createHash } from 'node:crypto'
import { compare, prerelease, satisfies, valid } from 'semver'

/**
 * Resolution as the rule is written, step by step over strings: nothing is remembered and nothing is sorted beforehand. It
 * answers like `version via rollout warnings…`, or with the code of the refusal.
 */
export function naiveResolve(skill: SkillRecord, asked: readonly string[], context: ResolveContext): string {
  const texts = asked.map((text) => text.trim()).map((text) => (text === 'latest' ? '*' : text))
  const pin = texts.map(pinOf).find((version) => version !== null)
  if (pin !== undefined && pin !== null) return naivePin(skill, { pin, texts }, context)

  const warnings = texts.every((text) => text === '*') ? ['unbounded_range'] : []
  const fits = ({ version }: VersionRecord): boolean => texts.every((text) => satisfies(version, text))
  const baseline = [...skill.byVersion.values()].filter((version) => isServed(skill, version) && fits(version)).sort(newestFirst)[0]
  let coin = '-'
  for (const rollout of activeNewestFirst(skill)) {
    const candidate = skill.byVersion.get(rollout.candidate)
    if (candidate === undefined || candidate.status !== 'candidate' || rollout.startedAt === null || !fits(candidate)) continue
    if (baseline !== undefined && compare(candidate.version, baseline.version) <= 0) continue
    if (context.isUnconfirmed === true && baseline !== undefined) continue
    const verdict = naiveExposure(rollout, candidate, context)
    if (verdict === 'canary_not_permitted' || verdict === 'no_sticky_key') warnings.push(verdict)
    if (verdict === 'outside') coin = rollout.id
    if (verdict === 'allow' || verdict === 'all' || verdict === 'inside')
      return [candidate.version, verdict === 'allow' ? 'allow' : 'canary', rollout.id, ...warnings].join(' ')
  }
  if (baseline === undefined) return 'NO_MATCHING_VERSION'
  return [baseline.version, 'stable', coin, ...warnings, ...(baseline.status === 'deprecated' ? ['deprecated'] : [])].join(' ')
}

/** Whether a rollout's percentage, or its allow list, gives a unit its candidate; the deny list and missing tags come first. */
export function naiveExposure(
  rollout: RolloutRecord,
  candidate: VersionRecord,
  context: ResolveContext,
): 'canary_not_permitted' | 'denied' | 'allow' | 'all' | 'nobody' | 'no_sticky_key' | 'inside' | 'outside' {
  if (!context.holds(candidate)) return 'canary_not_permitted'
  if (rollout.deny.includes(context.agentId)) return 'denied'
  if (rollout.allow.includes(context.agentId)) return 'allow'
  if (rollout.basisPoints === 10_000) return 'all'
  if (rollout.basisPoints === 0) return 'nobody'
  const unit = context.units[rollout.unit] ?? ''
  if (unit === '') return 'no_sticky_key'
  return naiveBucket(rollout.salt, rollout.unit, unit) < rollout.basisPoints ? 'inside' : 'outside'
}

/** Whether ranges may choose a version: released or deprecated, no pre-release, at or below what its line serves. */
export function isServed(skill: SkillRecord, { version, line, status }: VersionRecord): boolean {
  const stable = skill.stable.get(line)?.version
  return (
    (status === 'released' || status === 'deprecated') &&
    prerelease(version) === null &&
    stable !== undefined &&
    compare(version, stable) <= 0
  )
}

function naivePin(
  skill: SkillRecord,
  { pin, texts }: { readonly pin: string; readonly texts: readonly string[] },
  context: ResolveContext,
): string {
  const version = skill.byVersion.get(pin)
  if (version === undefined) return 'VERSION_NOT_FOUND'
  const neverReleased = version.status === 'candidate' || (version.status === 'yanked' && version.formerStatus === 'candidate')
  const rollout = activeNewestFirst(skill).find(({ candidate }) => candidate === pin)
  const isTheirs =
    version.publishedBy === context.agentId || (version.publisherTeam !== null && version.publisherTeam === context.team) || false
  const mayPin = context.pinsCandidates || isTheirs || rollout?.allow.includes(context.agentId) === true
  if (neverReleased && (rollout?.deny.includes(context.agentId) === true || !mayPin)) return 'VERSION_NOT_FOUND'
  if (version.status === 'blocked') return 'VERSION_WITHDRAWN'
  if (!texts.every((text) => satisfies(pin, text))) return 'NO_MATCHING_VERSION'
  const stable = skill.stable.get(version.line)?.version
  const isAbove = stable === undefined || compare(pin, stable) > 0
  const warning = version.status === 'released' ? (isAbove ? ['above_stable'] : []) : [version.status]
  return [pin, 'pinned', '-', ...warning].join(' ')
}

function naiveBucket(salt: string, unitKind: string, unitValue: string): number {
  const digest = createHash('sha256')
  for (const part of ['b1', salt, unitKind, unitValue]) {
    const bytes = Buffer.from(part, 'utf8')
    digest.update(`${bytes.length}:`).update(bytes)
  }
  return Number((BigInt(digest.digest().readUInt32BE(0)) * 10_000n) >> 32n)
}

function pinOf(text: string): string | null {
  return /^[v=\s]*\d+\.\d+\.\d+(-\S+)?$/.test(text) ? valid(text.replace(/^[v=\s]+/, '')) : null
}

function activeNewestFirst(skill: SkillRecord): RolloutRecord[] {
  return [...skill.rollouts].sort((a, b) => compare(b.candidate, a.candidate))
}

function newestFirst(a: VersionRecord, b: VersionRecord): number {
  return compare(b.version, a.version)
}
