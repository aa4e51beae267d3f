import type { AccessExplained } from '@repertoire/contract'
import {
  absent,
  authorize,
  callerOfAgent,
  contextOfAgent,
  isHighRisk,
  nameKey,
  parseRange,
  reachedClasses,
  requireRole,
  ruleFor,
  tryResolve,
  type Caller,
  type VersionRecord,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'

/** Which agent, which skill, and the range it would send. */
export type ExplainInput = { readonly agentId: string; readonly skill: string; readonly range: string | undefined }

/** Whether an agent may call a skill, and for each tag which grant or denial decides. */
export async function explainAccess(deps: Deps, caller: Caller, { agentId, skill: name, range }: ExplainInput): Promise<AccessExplained> {
  requireRole(caller, 'auditor')
  const snapshot = deps.snapshot()
  const agent = snapshot.agents.get(agentId)
  if (agent === undefined) throw noAgent(agentId)
  const skill = snapshot.skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  const nowMs = deps.clock.now().getTime()
  const attempt = tryResolve(skill, [parseRange(range ?? '*')], contextOfAgent(agent, nowMs))
  const problem = typeof attempt === 'function' ? attempt().message : null
  // Where no version satisfies the range, the newest stable one is judged, as for the agent itself.
  const version: VersionRecord | undefined =
    typeof attempt === 'function' ? [...skill.stable.values()].sort((a, b) => b.semver.compare(a.semver))[0] : attempt.version
  const reasons = new Map((await deps.store.listGrants(agentId)).map((grant) => [grant.id, grant]))
  const verdict = version === undefined ? undefined : authorize(callerOfAgent(agent, null), { skill, version }, nowMs)
  return {
    agent: agentId,
    disabled: agent.disabled,
    skill: skill.name,
    private: skill.private,
    version: version?.version ?? null,
    problem,
    may_call: verdict?.mayCall === true && problem === null && !agent.disabled,
    may_see: verdict?.maySee === true && !agent.disabled,
    classes: reachedClasses(agent.grants, deps.settings.tagClasses, nowMs).map(({ tagClass, grants }) => ({
      tag_class: tagClass,
      grants: grants.map(({ id, pattern }) => ({ id, pattern })),
    })),
    rule_id: verdict?.permit.ruleId ?? 'none',
    tags: (version?.manifest.permission ?? []).map((tag) => {
      const rule = ruleFor(agent.grants, tag, nowMs)
      const grant = rule === undefined ? undefined : reasons.get(rule.id)
      return {
        tag,
        allowed: rule !== undefined && !rule.deny,
        high_risk: isHighRisk(tag),
        rule:
          rule === undefined
            ? null
            : {
                id: rule.id,
                pattern: rule.pattern,
                deny: rule.deny,
                expires_at: rule.expiresAt === null ? null : new Date(rule.expiresAt).toISOString(),
                granted_by: grant?.grantedBy ?? null,
                reason: grant?.reason ?? null,
              },
      }
    }),
  }
}
