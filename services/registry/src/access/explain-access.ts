import type { AccessExplained } from '@repertoire/contract'
import {
  absent,
  authorize,
  callerOfAgent,
  contextOf,
  contextOfAgent,
  nameKey,
  narrowTo,
  parseRange,
  reachedClasses,
  requireRole,
  tryResolve,
  type Caller,
  type VersionRecord,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'
import { explainTag } from './explain-tag.ts'

/** Which agent, which skill, the range it would send, and the registered agent that stands for the user it would ask for. */
export type ExplainInput = {
  readonly agentId: string
  readonly skill: string
  readonly range: string | undefined
  readonly onBehalfOf: string | undefined
}

/** Whether an agent may call a skill, also for a user, and for each tag whose grant or denial decides. */
export async function explainAccess(
  deps: Deps,
  caller: Caller,
  { agentId, skill: name, range, onBehalfOf }: ExplainInput,
): Promise<AccessExplained> {
  requireRole(caller, 'auditor')
  const snapshot = deps.snapshot()
  const agent = snapshot.agents.get(agentId)
  if (agent === undefined) throw noAgent(agentId)
  const user = onBehalfOf === undefined ? undefined : snapshot.agents.get(onBehalfOf)
  if (onBehalfOf !== undefined && user === undefined) throw noAgent(onBehalfOf)
  const skill = snapshot.skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  const nowMs = deps.clock.now().getTime()
  const own = callerOfAgent(agent, null)
  const asker = user === undefined ? own : narrowTo(own, { subject: user.id, grants: user.grants })
  const context = contextOf({ caller: asker, nowMs, standing: [], units: contextOfAgent(agent, nowMs).units })
  const attempt = tryResolve(skill, [parseRange(range ?? '*')], context)
  const problem = typeof attempt === 'function' ? attempt().message : null
  // Where no version satisfies the range, the newest stable one is judged, as for the agent itself.
  const version: VersionRecord | undefined =
    typeof attempt === 'function' ? [...skill.stable.values()].sort((a, b) => b.semver.compare(a.semver))[0] : attempt.version
  const listed = await Promise.all([agent, user].map((held) => (held === undefined ? [] : deps.store.listGrants(held.id))))
  const reasons = new Map(listed.flat().map((grant) => [grant.id, grant]))
  const verdict = version === undefined ? undefined : authorize(asker, { skill, version }, nowMs)
  const isDisabled = agent.disabled || user?.disabled === true
  return {
    agent: agentId,
    on_behalf_of: user?.id ?? null,
    disabled: isDisabled,
    skill: skill.name,
    private: skill.private,
    version: version?.version ?? null,
    problem,
    may_call: verdict?.mayCall === true && problem === null && !isDisabled,
    may_see: verdict?.maySee === true && !isDisabled,
    rule_id: verdict?.permit.ruleId ?? 'none',
    judged: verdict?.judged ?? 'agent',
    tags: (version?.manifest.permission ?? []).map((tag) => explainTag(tag, { asker, reasons, nowMs })),
    classes: reachedClasses(agent.grants, deps.settings.tagClasses, nowMs).map(({ tagClass, grants }) => ({
      tag_class: tagClass,
      grants: grants.map(({ id, pattern }) => ({ id, pattern })),
    })),
  }
}
