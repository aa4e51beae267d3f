import type { CreateQuotaBody, Quota } from '@repertoire/contract'
import { nameKey, Refusal, requireRole, type Caller, type Snapshot } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { QuotaRow } from '../stored.ts'
import { noAgent } from './change-agent.ts'

/** Limits calls of an agent, a skill, an agent to a skill, or over a connection; all replicas share the limit. */
export async function createQuota(deps: Deps, caller: Caller, input: CreateQuotaBody): Promise<Quota> {
  requireRole(caller, 'admin')
  const { skills, connections } = deps.snapshot()
  const { agent, skill, connection } = input
  if (skill !== undefined && !skills.has(nameKey(skill)))
    throw new Refusal('SKILL_NOT_FOUND', `There is no skill ${skill}.`, { hint: 'repertoire list shows them' })
  if (connection !== undefined && !connections.has(connection))
    throw new Refusal('NOT_FOUND', `There is no connection ${connection}.`, { hint: 'repertoire connections list shows them' })
  return deps.store.transaction(async (tx) => {
    if (agent !== undefined && (await tx.agents.lock(agent)) === undefined) throw noAgent(agent)
    const at = deps.clock.now()
    const quota = {
      id: deps.ids.next(),
      agentId: agent ?? null,
      skillKey: skill === undefined ? null : nameKey(skill),
      connection: connection ?? null,
      perMinute: input.per_minute ?? null,
      perDay: input.per_day ?? null,
      reason: input.reason,
      createdBy: caller.id,
    }
    const shown = showQuota(deps.snapshot(), { ...quota, createdAt: at })
    if (!(await tx.quotas.insert({ ...quota, at })))
      throw new Refusal('CONFLICT', 'There is a quota about the same already.', {
        hint: 'remove it first: repertoire quotas list shows them',
      })
    await tx.audit.append({ caller, action: 'quota.create', subject: quota.id, ...about(shown), reason: input.reason, after: shown, at })
    return shown
  })
}

/** The skill that an event about a quota is also about. */
export function about({ skill }: Quota): { readonly skill?: string } {
  return skill === null ? {} : { skill }
}

/** A quota as its readers see it. */
export function showQuota({ skills }: Snapshot, quota: QuotaRow): Quota {
  return {
    id: quota.id,
    agent: quota.agentId,
    skill: quota.skillKey === null ? null : (skills.get(quota.skillKey)?.name ?? quota.skillKey),
    connection: quota.connection,
    per_minute: quota.perMinute,
    per_day: quota.perDay,
    reason: quota.reason,
    created_by: quota.createdBy,
    created_at: quota.createdAt.toISOString(),
  }
}
