import { nameKey, parseRange, splitRanges, type AgentRecord, type Requester, type SkillRecord, type Snapshot } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallCount } from '../stored.ts'

const dayMs = 86_400_000

/** Who works with a skill, and whether the call log could be asked. */
export type Requesters = { readonly all: readonly Requester[]; readonly declared: readonly Requester[]; readonly callsKnown: boolean }

/**
 * Everybody a change of a skill may concern: enabled agents with each range they declare for it, or any version where they
 * declare none, and whoever called it in the last seven days with the ranges it called with.
 */
export async function findRequesters(deps: Deps, snapshot: Snapshot, skill: SkillRecord): Promise<Requesters> {
  const since = new Date(deps.clock.now().getTime() - 7 * dayMs)
  // Without the log the declared ranges still stand; the answer says that calls are not known.
  const counts = await deps.calls.countBy(skill.name, since).catch(() => undefined)
  const declared = declaredRequesters(snapshot, skill.name)
  const all = new Map(declared.map((requester) => [keyOf(requester.agent.id, requester.range), requester]))
  for (const [key, { agentId, range, calls }] of callsByRange(counts ?? [])) {
    const known = all.get(key)
    const agent = snapshot.agents.get(agentId)
    const ranges = splitRanges(range)
    if (known !== undefined) all.set(key, { ...known, calls })
    else if (agent !== undefined && !agent.disabled && ranges !== undefined) all.set(key, { agent, range, ranges, calls })
  }
  return { all: [...all.values()], declared, callsKnown: counts !== undefined }
}

/** Every enabled agent with the ranges it declares for a skill, or any version where it declares none. */
export function declaredRequesters(snapshot: Snapshot, name: string): Requester[] {
  const requesters: Requester[] = []
  for (const agent of snapshot.agents.values()) {
    if (agent.disabled) continue
    const ranges = declaredRanges(snapshot, agent, name)
    // People manage; only what declares or has the role of an agent is counted among those a rollout may reach.
    if (ranges.length === 0 && agent.role === 'agent') ranges.push('*')
    for (const range of ranges) requesters.push({ agent, range, ranges: [parseRange(range)], calls: 0 })
  }
  return requesters
}

function declaredRanges(snapshot: Snapshot, agent: AgentRecord, name: string): string[] {
  const ranges = new Set<string>()
  for (const declared of snapshot.requirements.get(agent.id)?.values() ?? []) {
    const range = declared.get(nameKey(name))
    if (range !== undefined) ranges.add(range)
  }
  return [...ranges]
}

function callsByRange(
  counts: readonly CallCount[],
): Map<string, { readonly agentId: string; readonly range: string; readonly calls: number }> {
  const byRange = new Map<string, { readonly agentId: string; readonly range: string; readonly calls: number }>()
  for (const { agentId, range, calls } of counts) {
    const text = range ?? '*'
    const key = keyOf(agentId, text)
    byRange.set(key, { agentId, range: text, calls: (byRange.get(key)?.calls ?? 0) + calls })
  }
  return byRange
}

function keyOf(agentId: string, range: string): string {
  return `${agentId}\n${range}`
}
