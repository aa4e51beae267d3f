import type { Dependent, Dependents, DependentsQuery } from '@repertoire/contract'
import {
  absent,
  contextOfAgent,
  nameKey,
  parseRange,
  permit,
  requireRole,
  splitRanges,
  tryResolve,
  type AgentRecord,
  type Caller,
  type ParsedRange,
  type SkillRecord,
  type Snapshot,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallCount, RequirementDeclared } from '../stored.ts'

const dayMs = 86_400_000
// A declaration nobody renewed for a quarter and no call went with is of an instance that is gone.
const declaredForDays = 90

/** Who depends on a skill: every declared range, and every range that was called with lately, with what each gets now. */
export async function listDependents(
  deps: Deps,
  caller: Caller,
  { name, days }: DependentsQuery & { readonly name: string },
): Promise<Dependents> {
  requireRole(caller, 'operator')
  const snapshot = deps.snapshot()
  const skill = snapshot.skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  const nowMs = deps.clock.now().getTime()
  const counts = await deps.calls.countBy(skill.name, new Date(nowMs - days * dayMs))
  const declared = await deps.store.requirementsOf(skill.key, new Date(nowMs - declaredForDays * dayMs))
  const known = new Set(declared.map(({ agentId, range }) => `${agentId}\n${range}`))
  const called = [...new Set(counts.map(({ agentId, range }) => `${agentId}\n${range ?? '*'}`))].filter((key) => !known.has(key))
  const asking = { snapshot, skill, counts, nowMs }
  const items = [
    ...declared.map((requirement) => describe(asking, requirement)),
    ...called.map((key) => {
      const [agentId = '', range = '*'] = key.split('\n')
      return describe(asking, { agentId, range })
    }),
  ]
  items.sort((a, b) => b.calls - a.calls || (a.agent < b.agent ? -1 : 1))
  return { skill: skill.name, days, items, next_cursor: null }
}

type Asking = { readonly snapshot: Snapshot; readonly skill: SkillRecord; readonly counts: readonly CallCount[]; readonly nowMs: number }

function describe(
  { snapshot, skill, counts, nowMs }: Asking,
  { agentId, range, instance, declaredAt }: Partial<RequirementDeclared> & { readonly agentId: string; readonly range: string },
): Dependent {
  const mine = counts.filter((count) => count.agentId === agentId && (count.range ?? '*') === range)
  const lastAt = mine.map(({ lastAt: at }) => at.getTime()).sort((a, b) => b - a)[0]
  const versions: Record<string, number> = {}
  for (const { version, calls } of mine) if (version !== null) versions[version] = (versions[version] ?? 0) + calls
  const agent = snapshot.agents.get(agentId)
  const ranges = rangesOf(range)
  const attempt = agent === undefined || ranges === undefined ? undefined : tryResolve(skill, ranges, contextOfAgent(agent, nowMs))
  const resolved = typeof attempt === 'function' ? undefined : attempt
  return {
    agent: agentId,
    instance: instance ?? null,
    range,
    declared_at: declaredAt?.toISOString() ?? null,
    version: resolved?.version.version ?? null,
    via: resolved?.via ?? null,
    status: resolved?.version.status ?? null,
    problem: problemOf(agent, attempt, nowMs),
    calls: mine.reduce((sum, { calls }) => sum + calls, 0),
    last_call_at: lastAt === undefined ? null : new Date(lastAt).toISOString(),
    versions,
  }
}

function problemOf(agent: AgentRecord | undefined, attempt: ReturnType<typeof tryResolve> | undefined, nowMs: number): string | null {
  if (agent === undefined) return 'there is no such agent'
  if (agent.disabled) return 'the agent is disabled'
  if (typeof attempt === 'function') return attempt().message
  const missing = attempt === undefined ? [] : permit(agent.grants, attempt.version.manifest.permission, nowMs).missing
  return missing.length === 0 ? null : `it lacks ${missing.join(', ')}`
}

function rangesOf(text: string): ParsedRange[] | undefined {
  return text === '*' ? [parseRange('*')] : splitRanges(text)
}
