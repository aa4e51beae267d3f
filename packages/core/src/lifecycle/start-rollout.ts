import type { RolloutRecord, RolloutStep, UnitKind } from '../records.ts'
import { Refusal } from '../refusal.ts'
import { activeOn, findVersion, type Order, type Plan, type SkillFacts, type VersionFacts } from './facts.ts'

/** A rollout as an operator asks for it. */
export type RolloutRequest = {
  readonly id: string
  readonly version: string
  readonly basisPoints: number
  readonly unit: UnitKind
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly steps: readonly RolloutStep[]
  readonly startAt: string | null
  /** The salt of an earlier rollout of the same version, so that the same units are chosen again; else a new random one. */
  readonly salt: string
}

/** Plans the start of a rollout: at once, or at a time to come. */
export function planStart(facts: SkillFacts, request: RolloutRequest, order: Order): Plan {
  const version = findVersion(facts, request.version)
  refuseUnreachable(facts, version)
  refuseOtherStatus(facts, version)
  requireConnection(facts, version)
  const active = activeOn(facts, version.line)
  if (active !== undefined) throw rolloutActive(facts.name, active)
  const isLater = request.startAt !== null && request.startAt > order.at
  const first = request.steps[0]
  const rollout: RolloutRecord = {
    id: request.id,
    skillId: facts.id,
    line: version.line,
    candidate: version.version,
    previousStable: facts.stable.get(version.line) ?? null,
    state: isLater ? 'scheduled' : 'running',
    pausedReason: null,
    pausedNote: null,
    basisPoints: request.basisPoints,
    agreedBasisPoints: request.basisPoints,
    unit: request.unit,
    salt: request.salt,
    allow: request.allow,
    deny: request.deny,
    steps: request.steps,
    stepIndex: first !== undefined && first.basisPoints <= request.basisPoints ? 0 : -1,
    stepAt: isLater ? null : order.at,
    startAt: request.startAt,
    startedAt: isLater ? null : order.at,
    reason: order.reason,
    createdBy: order.by,
    createdAt: order.at,
    updatedAt: order.at,
    endedAt: null,
  }
  return { versions: [], lines: [], rollouts: [rollout] }
}

/** The refusal for a line that has an active rollout already. */
export function rolloutActive(name: string, active: RolloutRecord): Refusal {
  return new Refusal('ROLLOUT_ACTIVE', `Line ${active.line} of ${name} has an active rollout of ${active.candidate}.`, {
    hint: `promote it, roll it back or cancel it first: it is ${active.id}`,
    details: [{ rule: 'one_rollout_per_line', got: active.id }],
  })
}

/** Refuses a version whose calls could reach nobody, because the connection they go through is not there. */
export function requireConnection(facts: SkillFacts, version: VersionFacts): void {
  if (version.connection === null || facts.hasConnection(version.connection)) return
  throw new Refusal(
    'NOT_FOUND',
    `${facts.name} ${version.version} calls through the connection ${version.connection}, which does not exist.`,
    {
      hint: `an admin makes it first: repertoire connections create ${version.connection} URL`,
      details: [{ rule: 'connection', got: version.connection }],
    },
  )
}

function refuseUnreachable(facts: SkillFacts, version: VersionFacts): void {
  if (version.semver.prerelease.length === 0) return
  throw new Refusal(
    'CANARY_UNREACHABLE',
    `${facts.name} ${version.version} is a pre-release, which no range ever selects: its canary would reach nobody.`,
    {
      hint: `publish it as ${version.semver.major}.${version.semver.minor}.${version.semver.patch}; a canary is a status, not a version string`,
    },
  )
}

function refuseOtherStatus(facts: SkillFacts, version: VersionFacts): void {
  if (version.status === 'candidate') return
  if (version.status === 'blocked') {
    throw new Refusal(
      'VERSION_WITHDRAWN',
      `${facts.name} ${version.version} was blocked: ${version.statusReason ?? 'no reason was given'}.`,
      {
        hint: 'publish a new version',
      },
    )
  }
  throw new Refusal('ILLEGAL_TRANSITION', `${facts.name} ${version.version} is ${version.status}; only a candidate can be rolled out.`, {
    hint: version.status === 'yanked' ? 'unyank it first, then start again' : 'ranges get it already; publish a new version',
    details: [{ rule: 'transition', got: 'start', allowed: [] }],
  })
}
