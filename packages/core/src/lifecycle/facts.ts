import type { VersionStatus } from '@repertoire/contract'
import type { SemVer } from 'semver'
import type { RolloutRecord, SkillRecord, VersionRecord } from '../records.ts'
import { Refusal } from '../refusal.ts'

/** What a command needs to know of a version. */
export type VersionFacts = Pick<
  VersionRecord,
  'version' | 'line' | 'status' | 'formerStatus' | 'statusReason' | 'statusChangedAt' | 'replacement' | 'sunsetAt'
> & {
  readonly semver: SemVer
  readonly permission: readonly string[]
  /** The connection its executor goes through, when it names one. */
  readonly connection: string | null
}

/** What a command decides by: the versions of a skill, what each line serves, its active rollouts, and the connections there are. */
export type SkillFacts = {
  readonly id: string
  readonly name: string
  readonly versions: readonly VersionFacts[]
  readonly stable: ReadonlyMap<string, string>
  readonly rollouts: readonly RolloutRecord[]
  readonly hasConnection: (name: string) => boolean
}

/** Who commands, when, and why. */
export type Order = {
  readonly by: string
  readonly at: string
  readonly reason: string
  /** Tags that a release or promotion may add to what a line needs: whoever gives the order has named them. */
  readonly acceptTags?: readonly string[]
}

/** The new status of a version, with all that is said about it. */
export type StatusChange = Pick<
  VersionFacts,
  'version' | 'status' | 'formerStatus' | 'statusReason' | 'statusChangedAt' | 'replacement' | 'sunsetAt'
>

/** What a command will change, decided before anything is written: it can be carried out, or shown. Empty means nothing to do. */
export type Plan = {
  readonly versions: readonly StatusChange[]
  readonly lines: readonly { readonly line: string; readonly stable: string | null }[]
  readonly rollouts: readonly RolloutRecord[]
}

/** A plan that changes nothing. */
export const nothingToDo: Plan = { versions: [], lines: [], rollouts: [] }

/** Whether a plan changes anything. */
export function changesAnything(plan: Plan): boolean {
  return plan.versions.length + plan.lines.length + plan.rollouts.length > 0
}

/** The facts of a skill of the catalogue, for dry runs and for rules that are tested without a database. */
export function factsOf(skill: SkillRecord, hasConnection: (name: string) => boolean): SkillFacts {
  return {
    id: skill.id,
    name: skill.name,
    versions: skill.versions.map((version) => ({ ...version, permission: version.manifest.permission, connection: connectionOf(version) })),
    stable: new Map([...skill.stable].map(([line, version]) => [line, version.version])),
    rollouts: skill.rollouts,
    hasConnection,
  }
}

/** The version a command names; refuses with VERSION_NOT_FOUND. */
export function findVersion(facts: SkillFacts, version: string): VersionFacts {
  const found = facts.versions.find((known) => known.version === version)
  if (found !== undefined) return found
  throw new Refusal('VERSION_NOT_FOUND', `${facts.name} has no version ${version.slice(0, 64)}.`, {
    hint: `repertoire show ${facts.name} --versions lists them`,
  })
}

/** The active rollout of a line. */
export function activeOn(facts: SkillFacts, line: string): RolloutRecord | undefined {
  return facts.rollouts.find((rollout) => rollout.line === line && isActive(rollout))
}

/** Whether a rollout has not ended. */
export function isActive({ state }: Pick<RolloutRecord, 'state'>): boolean {
  return state === 'scheduled' || state === 'running' || state === 'paused'
}

/** Whether a line may point at a version in some status: one that ranges can get, and no pre-release. */
export function isServable(version: VersionFacts, status: VersionStatus = version.status): boolean {
  return (status === 'released' || status === 'deprecated') && version.semver.prerelease.length === 0
}

/** The newest version of a line that ranges may get, up to or below another one when that is given. */
export function newestServable(
  facts: SkillFacts,
  line: string,
  limit: { readonly below?: SemVer; readonly upTo?: SemVer } = {},
): VersionFacts | undefined {
  return facts.versions
    .filter((version) => version.line === line && isServable(version))
    .filter(
      ({ semver }) =>
        (limit.below === undefined || semver.compare(limit.below) < 0) && (limit.upTo === undefined || semver.compare(limit.upTo) <= 0),
    )
    .sort((a, b) => b.semver.compare(a.semver))[0]
}

/** Another status for a version; what is not said anew about it is kept. */
export function changeStatus(
  version: VersionFacts,
  status: VersionStatus,
  said: Partial<StatusChange> & { readonly at: string },
): StatusChange {
  const { at, ...rest } = said
  return {
    version: version.version,
    status,
    formerStatus: version.status,
    statusReason: version.statusReason,
    replacement: version.replacement,
    sunsetAt: version.sunsetAt,
    statusChangedAt: at,
    ...rest,
  }
}

function connectionOf(version: VersionRecord): string | null {
  const { executor } = version.manifest
  return executor !== undefined && 'connection' in executor && typeof executor.connection === 'string' ? executor.connection : null
}
