import type { Via, Warning } from '@repertoire/contract'
import { bucketOf } from './bucket.ts'
import { matchRanges } from './match-ranges.ts'
import { mayPin } from './may-pin.ts'
import { explainNoMatch } from './no-match.ts'
import type { ParsedRange } from './range.ts'
import type { RolloutRecord, SkillRecord, UnitKind, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'

/** What resolution needs to know about who asks. */
export type ResolveContext = {
  readonly agentId: string
  readonly team: string | null
  /** Whether the caller may pin any candidate, as operators may. */
  readonly pinsCandidates: boolean
  /** Whether the caller asks for a user, whose nothing is that the caller owns. */
  readonly isNarrowed?: boolean
  /** Whether the caller holds every tag of a version. */
  readonly holds: (version: VersionRecord) => boolean
  /** The value of each unit a rollout may randomise over; absent means there is no sticky key. */
  readonly units: Readonly<Partial<Record<UnitKind, string>>>
  /** Whether the caller sees every version without holding its tags, as auditors and operators do. */
  readonly seesAll?: boolean
  /** Nobody has confirmed this catalogue for a while: canaries, which a rollback may have ended, give way to stable. */
  readonly isUnconfirmed?: boolean
}

/** The coin a rollout flipped for this unit; there is one only where the percentage decided. */
export type Coin = {
  readonly rolloutId: string
  readonly arm: 'canary' | 'stable'
  readonly unitKind: UnitKind
  readonly unitValue: string
}

/** The version chosen and why. */
export type Resolved = {
  readonly version: VersionRecord
  readonly via: Via
  readonly rolloutId: string | null
  readonly coin: Coin | null
  readonly warnings: readonly Warning[]
}

/** Decides which version of a skill satisfies every range that was given. Pure and total: it resolves, or throws a refusal that names the cause. */
export function resolve(skill: SkillRecord, ranges: readonly ParsedRange[], context: ResolveContext): Resolved {
  const attempt = tryResolve(skill, ranges, context)
  if (typeof attempt === 'function') throw attempt()
  return attempt
}

/** The same for lists, where not resolving is ordinary: the refusal is only written when somebody asks for it. */
export function tryResolve(skill: SkillRecord, ranges: readonly ParsedRange[], context: ResolveContext): Resolved | (() => Refusal) {
  for (const { pin } of ranges) if (pin !== undefined) return resolvePin(skill, { pin: pin.version, ranges }, context)

  const warnings: Warning[] = []
  if (ranges.every(isUnbounded))
    warnings.push({
      code: 'unbounded_range',
      message: `No range bounds ${skill.name}: a new major version would be served at once. Ask for a range such as ^1.`,
    })
  const { baseline, contenders } = matchRanges(skill, ranges)
  let coin: Coin | null = null
  for (const { rollout, candidate } of context.isUnconfirmed === true && baseline !== undefined ? [] : contenders) {
    const exposure = expose(rollout, candidate, context)
    if (exposure.warning !== undefined) warnings.push(exposure.warning)
    coin = exposure.coin ?? coin
    if (exposure.via !== undefined)
      return { version: candidate, via: exposure.via, rolloutId: rollout.id, coin: exposure.coin ?? null, warnings }
  }
  if (baseline === undefined) return noMatch(skill, ranges, context)
  if (baseline.status === 'deprecated') warnings.push(deprecation(skill, baseline))
  return { version: baseline, via: 'stable', rolloutId: coin?.rolloutId ?? null, coin, warnings }
}

// A function of its own, so that an answer does not pay for the refusal it never makes.
const noMatch = (skill: SkillRecord, ranges: readonly ParsedRange[], context: ResolveContext) => (): Refusal =>
  explainNoMatch(skill, ranges, context)

const isUnbounded = (range: ParsedRange): boolean => range.unbounded

function resolvePin(
  skill: SkillRecord,
  { pin, ranges }: { readonly pin: string; readonly ranges: readonly ParsedRange[] },
  context: ResolveContext,
): Resolved | (() => Refusal) {
  const version = skill.byVersion.get(pin)
  if (version === undefined || !mayPin(skill, version, context)) return unknownPin(skill, pin)
  if (version.status === 'blocked') return withdrawn(skill, version)
  for (const range of ranges)
    if (range.pin === undefined ? !range.range.test(version.semver) : range.pin.version !== pin) return noMatch(skill, ranges, context)
  return { version, via: 'pinned', rolloutId: null, coin: null, warnings: pinWarnings(skill, version) }
}

const unknownPin = (skill: SkillRecord, pin: string) => (): Refusal =>
  new Refusal('VERSION_NOT_FOUND', `${skill.name} has no version ${pin}.`, {
    hint: 'leave the version out, or ask for a range such as ^1',
  })

function withdrawn(skill: SkillRecord, { version, statusReason, replacement }: VersionRecord): () => Refusal {
  const instead = replacement === null ? '' : ` Use ${replacement} instead.`
  return () => new Refusal('VERSION_WITHDRAWN', `${skill.name} ${version} was blocked: ${statusReason ?? 'no reason was given'}.${instead}`)
}

function pinWarnings(skill: SkillRecord, version: VersionRecord): Warning[] {
  const name = `${skill.name} ${version.version}`
  if (version.status === 'candidate') return [{ code: 'candidate', message: `${name} is a candidate; it is not released yet.` }]
  if (version.status === 'yanked')
    return [{ code: 'yanked', message: `${name} was yanked: ${version.statusReason ?? 'no reason was given'}. Ranges skip it.` }]
  if (version.status === 'deprecated') return [deprecation(skill, version)]
  const ceiling = skill.stable.get(version.line)
  if (ceiling === undefined || version.semver.compare(ceiling.semver) > 0)
    return [{ code: 'above_stable', message: `${name} is above what its line serves (${ceiling?.version ?? 'nothing'}).` }]
  return []
}

/** The warning of a version that is on its way out. */
export function deprecation(skill: SkillRecord, version: VersionRecord): Warning {
  const sunset = version.sunsetAt === null ? '' : ` It goes away on ${version.sunsetAt.slice(0, 10)}.`
  return {
    code: 'deprecated',
    message: `${skill.name} ${version.version} is deprecated: ${version.statusReason ?? 'no reason was given'}.${sunset}`,
  }
}

type Exposure = { readonly via?: Via; readonly coin?: Coin; readonly warning?: Warning }

function expose(rollout: RolloutRecord, candidate: VersionRecord, context: ResolveContext): Exposure {
  if (!context.holds(candidate))
    return {
      warning: {
        code: 'canary_not_permitted',
        message: `The candidate ${candidate.version} needs tags this agent does not hold; it stays on stable.`,
      },
    }
  if (rollout.deny.includes(context.agentId)) return {}
  if (rollout.allow.includes(context.agentId)) return { via: 'allow' }
  if (rollout.basisPoints >= 10_000) return { via: 'canary' }
  if (rollout.basisPoints <= 0) return {}
  const unitValue = context.units[rollout.unit]
  if (unitValue === undefined || unitValue === '')
    return {
      warning: {
        code: 'no_sticky_key',
        message: `The canary of ${candidate.version} is by ${rollout.unit}, and this request names none; it stays on stable.`,
      },
    }
  const inside = bucketOf(rollout.salt, rollout.unit, unitValue) < rollout.basisPoints
  const coin: Coin = { rolloutId: rollout.id, arm: inside ? 'canary' : 'stable', unitKind: rollout.unit, unitValue }
  return inside ? { via: 'canary', coin } : { coin }
}
