import type { CreateGrantBody, Grant, Warning } from '@repertoire/contract'
import { completedClasses, isHighRisk, Refusal, refuseClasses, requireRole, warnOfClasses, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { GrantRow } from '../stored.ts'
import { noAgent } from './change-agent.ts'

/** A grant, and what whoever gave it should know. */
export type GrantCreated = { readonly grant: Grant; readonly warnings: readonly Warning[] }

/**
 * Lets an agent use what requires a tag, or denies it; a denial beats every grant. A grant after which the agent reaches all
 * classes of tags is given only to who accepts the risk.
 */
export async function createGrant(
  deps: Deps,
  caller: Caller,
  input: CreateGrantBody & { readonly agentId: string },
): Promise<GrantCreated> {
  requireRole(caller, 'admin')
  refuseIdle(input)
  const at = deps.clock.now()
  const expiresAt = input.expires_at === undefined ? null : new Date(input.expires_at)
  if (expiresAt !== null && expiresAt <= at)
    throw new Refusal('INVALID_REQUEST', 'The grant would have expired already.', {
      hint: 'give an expires_at that lies ahead',
      details: [{ path: '/expires_at', rule: 'future' }],
    })
  return deps.store.transaction(
    async (tx) => {
      if ((await tx.agents.lock(input.agentId)) === undefined) throw noAgent(input.agentId)
      const grant = {
        id: deps.ids.next(),
        agentId: input.agentId,
        pattern: input.pattern,
        deny: input.deny,
        reason: input.reason,
        grantedBy: caller.id,
        expiresAt,
      }
      const record = { ...grant, expiresAt: expiresAt?.getTime() ?? null }
      const held = await tx.grants.of(input.agentId)
      const completed = completedClasses({ before: held, after: [...held, record] }, deps.settings.tagClasses, at.getTime())
      if (completed !== undefined && !input.accept_risk) throw refuseClasses(input.agentId, completed)
      const warnings = completed === undefined ? [] : [warnOfClasses(input.agentId, completed)]
      await tx.grants.insert({ ...grant, at })
      const shown = showGrant({ ...grant, createdAt: at })
      await tx.audit.append({
        caller,
        action: input.deny ? 'grant.deny' : 'grant.create',
        subject: input.agentId,
        reason: input.reason,
        after: completed === undefined ? shown : { ...shown, accepted_risk: warnings.map((warning) => warning.message) },
        at,
      })
      return { grant: shown, warnings }
    },
    { isUrgent: input.deny },
  )
}

// A grant that can never allow anything would be taken for one that does.
function refuseIdle({ pattern, deny }: CreateGrantBody): void {
  if (pattern.split(':').length > 8)
    throw new Refusal('INVALID_REQUEST', 'A pattern has at most 8 segments, like a tag.', {
      details: [{ path: '/pattern', rule: 'segments' }],
    })
  const area = pattern.endsWith(':*') ? pattern.slice(0, -2) : undefined
  if (deny || area === undefined || !isHighRisk(area)) return
  throw new Refusal('INVALID_REQUEST', `${pattern} would cover nothing: tags of high risk are granted by name alone.`, {
    hint: `name the tag, such as ${area}:reports`,
    details: [{ path: '/pattern', rule: 'high_risk' }],
  })
}

/** A grant as its readers see it. */
export function showGrant(grant: GrantRow): Grant {
  return {
    id: grant.id,
    agent_id: grant.agentId,
    pattern: grant.pattern,
    deny: grant.deny,
    reason: grant.reason,
    granted_by: grant.grantedBy,
    created_at: grant.createdAt.toISOString(),
    expires_at: grant.expiresAt?.toISOString() ?? null,
  }
}
