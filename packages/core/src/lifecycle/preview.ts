import type { AgentRecord, SkillRecord, VersionRecord } from '../records.ts'
import type { Caller } from '../caller.ts'
import { permit } from '../permit.ts'
import type { ParsedRange } from '../range.ts'
import { tryResolve, type ResolveContext, type Resolved } from '../resolve.ts'
import { assembleSkill } from '../snapshot.ts'
import type { Plan } from './facts.ts'

/** One agent with one set of ranges it works with, and how often it called with them in the last days. */
export type Requester = {
  readonly agent: AgentRecord
  readonly range: string
  readonly ranges: readonly ParsedRange[]
  readonly calls: number
}

/** One requester that a plan concerns, and what it gets before and after; null means nothing. */
export type Affected = {
  readonly agent: string
  readonly range: string
  readonly from: string | null
  readonly to: string | null
  readonly calls: number
  readonly reason: string | null
}

/** What a plan would do to those who use a skill. */
export type Impact = {
  readonly wouldMove: readonly Affected[]
  readonly wouldBeDenied: readonly Affected[]
  readonly unreachable: readonly Affected[]
  readonly exactPinsNotMoved: readonly Affected[]
}

/** A skill as it would be after a plan. */
export function applyPlan(skill: SkillRecord, plan: Plan): SkillRecord {
  const versions = plan.versions.flatMap((change): VersionRecord[] => {
    const version = skill.byVersion.get(change.version)
    return version === undefined ? [] : [{ ...version, ...change }]
  })
  const lines = plan.lines.map((line) => ({ skillId: skill.id, ...line }))
  return assembleSkill(skill, skill, { versions, lines, rollouts: plan.rollouts })
}

/** Compares what every requester gets before and after, by the same resolution that will serve them. */
export function previewImpact(
  before: SkillRecord,
  after: SkillRecord,
  { requesters, nowMs }: { readonly requesters: readonly Requester[]; readonly nowMs: number },
): Impact {
  const moved: Affected[] = []
  const denied: Affected[] = []
  const unreachable: Affected[] = []
  const pinned: Affected[] = []
  for (const requester of requesters) {
    const context = contextOfAgent(requester.agent, nowMs)
    const was = versionOf(tryResolve(before, requester.ranges, context))
    const attempt = tryResolve(after, requester.ranges, context)
    const is = versionOf(attempt)
    const entry = {
      agent: requester.agent.id,
      range: requester.range,
      from: was?.version ?? null,
      to: is?.version ?? null,
      calls: requester.calls,
      reason: null,
    }
    const isPin = requester.ranges.some((range) => range.pin !== undefined)
    if (is === undefined) unreachable.push({ ...entry, reason: typeof attempt === 'function' ? attempt().message : null })
    else if (lacksTags(requester.agent, is, nowMs) && (was === undefined || !lacksTags(requester.agent, was, nowMs)))
      denied.push({ ...entry, reason: `lacks ${missingTags(requester.agent, is, nowMs).join(', ')}` })
    else if (was?.version !== is.version) moved.push(entry)
    else if (isPin) pinned.push(entry)
  }
  return { wouldMove: moved, wouldBeDenied: denied, unreachable, exactPinsNotMoved: pinned }
}

/** What resolution knows of an agent nobody hears right now: its own name and tenant, and no session. */
export function contextOfAgent(agent: AgentRecord, nowMs: number): ResolveContext {
  return {
    agentId: agent.id,
    team: agent.team,
    pinsCandidates: agent.role === 'operator' || agent.role === 'admin',
    holds: (version) => !lacksTags(agent, version, nowMs),
    units: { agent: agent.id, ...(agent.tenant === null ? {} : { tenant: agent.tenant }) },
  }
}

/** An agent as the caller it would be. */
export function callerOfAgent(agent: AgentRecord, keyId: string | null): Caller {
  const { id, role, team, tenant, domains, grants } = agent
  return { id, role, team, tenant, domains, grants, keyId, onBehalfOf: null }
}

function versionOf(attempt: Resolved | (() => unknown)): VersionRecord | undefined {
  return typeof attempt === 'function' ? undefined : attempt.version
}

function lacksTags(agent: AgentRecord, version: VersionRecord, nowMs: number): boolean {
  return !permit(agent.grants, version.manifest.permission, nowMs).allow
}

function missingTags(agent: AgentRecord, version: VersionRecord, nowMs: number): readonly string[] {
  return permit(agent.grants, version.manifest.permission, nowMs).missing
}
