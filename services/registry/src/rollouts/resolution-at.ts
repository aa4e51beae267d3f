import type { ResolutionAt, ResolutionAtQuery } from '@repertoire/contract'
import {
  absent,
  contextOfAgent,
  nameKey,
  parseRange,
  permit,
  Refusal,
  requireRole,
  skillAfter,
  tryResolve,
  type AgentRecord,
  type Caller,
  type ParsedRange,
  type Resolved,
  type SkillRecord,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { AuditRow } from '../stored.ts'

/** What an agent gets of a skill, or would have got at a time: its ranges, its grants and the skill as they were then. */
export async function resolutionAt(
  deps: Deps,
  caller: Caller,
  query: ResolutionAtQuery & { readonly name: string },
): Promise<ResolutionAt> {
  requireRole(caller, 'auditor')
  const snapshot = deps.snapshot()
  const skill = snapshot.skills.get(nameKey(query.name))
  if (skill === undefined) throw absent(query.name)
  const agent = snapshot.agents.get(query.agent)
  if (agent === undefined)
    throw new Refusal('NOT_FOUND', `There is no agent ${query.agent.slice(0, 64)}.`, { hint: 'repertoire agents list shows them' })
  const at = query.at === undefined ? deps.clock.now() : new Date(query.at)
  if (at.getTime() > deps.clock.now().getTime())
    throw new Refusal('INVALID_REQUEST', `${at.toISOString()} is still to come.`, {
      hint: 'leave the time out to ask about now',
      details: [{ path: '/at', rule: 'past' }],
    })
  const events = await deps.store.eventsOf(skill.name, at)
  const then = skillAfter(
    skill,
    events.flatMap(({ change }) => (change === null ? [] : [change])),
  )
  const ranges = await rangesAt(deps, { query, agent, skill, at })
  const grants = await deps.store.grantsAt(agent.id, at)
  const context = contextOfAgent({ ...agent, grants, tenant: agent.tenant ?? query.tenant ?? null }, at.getTime())
  const units = query.session === undefined ? context.units : { ...context.units, session: query.session }
  const attempt = then === undefined ? undefined : tryResolve(then, ranges, { ...context, units })
  const resolved = typeof attempt === 'function' ? undefined : attempt
  const lastCall = await deps.calls.lastOf({ skill: skill.name, agentId: agent.id, at })
  return {
    skill: skill.name,
    agent: agent.id,
    at: at.toISOString(),
    ranges: ranges.map((range) => range.text),
    version: resolved?.version.version ?? null,
    via: resolved?.via ?? null,
    warnings: (resolved?.warnings ?? []).map((warning) => ({ ...warning })),
    problem: problemOf(skill.name, attempt),
    missing_tags: resolved === undefined ? [] : [...permit(grants, resolved.version.manifest.permission, at.getTime()).missing],
    stable: Object.fromEntries([...(then?.stable ?? [])].map(([line, version]) => [line, version.version])),
    rollouts: (then?.rollouts ?? []).map(({ id, candidate, state, basisPoints }) => ({
      id,
      version: candidate,
      state,
      percent: basisPoints / 100,
    })),
    last_change: showEvent(events.at(-1)),
    last_call:
      lastCall === undefined
        ? null
        : { call_id: lastCall.call_id, ts: lastCall.ts, version: lastCall.version, via: lastCall.via, range: lastCall.requested_range },
  }
}

type Then = { readonly query: ResolutionAtQuery; readonly agent: AgentRecord; readonly skill: SkillRecord; readonly at: Date }

// A version must satisfy what the request would have sent and what the instance had declared.
async function rangesAt(deps: Deps, { query, agent, skill, at }: Then): Promise<ParsedRange[]> {
  const declared = (await deps.store.declaredAt(agent.id, at)).get(query.instance ?? 'default') ?? {}
  const standing = Object.entries(declared).find(([name]) => nameKey(name) === skill.key)?.[1]
  const texts = [query.range, standing].filter((text) => text !== undefined)
  return [...new Set(texts.length === 0 ? ['*'] : texts)].map(parseRange)
}

function problemOf(name: string, attempt: Resolved | (() => Refusal) | undefined): ResolutionAt['problem'] {
  if (attempt === undefined) return { code: 'SKILL_NOT_FOUND', message: `${name} had not been published by then.` }
  if (typeof attempt !== 'function') return null
  const { code, message, hint } = attempt()
  return { code, message, ...(hint === undefined ? {} : { hint }) }
}

function showEvent(event: AuditRow | undefined): ResolutionAt['last_change'] {
  return event === undefined ? null : { at: event.at.toISOString(), by: event.caller, action: event.action, reason: event.reason }
}
