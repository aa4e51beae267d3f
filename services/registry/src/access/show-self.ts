import type { QuotaUse, Self } from '@repertoire/contract'
import { isKnownTo, windowAt, type GrantRecord, type QuotaRecord, type QuotaSpan, type Snapshot } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'

/** Who the caller is, what it holds, the user it asks for, what it declared, and what it has used of its own quotas. */
export function showSelf(deps: Deps, { caller }: Visit): Self {
  const nowMs = deps.clock.now().getTime()
  const { skills, requirements } = deps.snapshot()
  const declared = requirements.get(caller.id) ?? new Map<string, ReadonlyMap<string, string>>()
  // What it may not know of is called as if it were not there: by the key it declared.
  const nameFor = (key: string): string => {
    const skill = skills.get(key)
    return skill !== undefined && isKnownTo(skill, caller, nowMs) ? skill.name : key
  }
  return {
    id: caller.id,
    role: caller.role === 'system' ? 'admin' : caller.role,
    tenant: caller.tenant,
    domains: [...caller.domains],
    grants: showHeld(caller.grants, nowMs),
    on_behalf_of:
      caller.onBehalfOf === null ? null : { subject: caller.onBehalfOf.subject, grants: showHeld(caller.onBehalfOf.grants, nowMs) },
    requirements: Object.fromEntries(
      [...declared].map(([instance, ranges]) => [instance, Object.fromEntries([...ranges].map(([key, range]) => [nameFor(key), range]))]),
    ),
    quotas: showQuotas(deps, { caller, snapshot: deps.snapshot(), nowMs }),
  }
}

type Seen = { readonly caller: Visit['caller']; readonly snapshot: Snapshot; readonly nowMs: number }

// Of a skill it may not know there is no quota either.
function showQuotas(deps: Deps, { caller, snapshot: { quotas, skills }, nowMs }: Seen): QuotaUse[] {
  return [...quotas.values()].flatMap((quota) => {
    const skill = quota.skillKey === null ? undefined : skills.get(quota.skillKey)
    if (quota.agentId !== caller.id || (quota.skillKey !== null && (skill === undefined || !isKnownTo(skill, caller, nowMs)))) return []
    const spending = (span: QuotaSpan, limit: number | null): QuotaUse['minute'] => showSpending(deps, { quota, span, limit, nowMs })
    return [{ skill: skill?.name ?? null, minute: spending('minute', quota.perMinute), day: spending('day', quota.perDay) }]
  })
}

type Spending = { readonly quota: QuotaRecord; readonly span: QuotaSpan; readonly limit: number | null; readonly nowMs: number }

function showSpending(deps: Deps, { quota, span, limit, nowMs }: Spending): QuotaUse['minute'] {
  if (limit === null) return null
  return { limit, used: deps.quotas.used(quota, span, nowMs), resets_at: new Date(windowAt(span, nowMs).end).toISOString() }
}

function showHeld(grants: readonly GrantRecord[], nowMs: number): Self['grants'] {
  return grants
    .filter((grant) => grant.expiresAt === null || grant.expiresAt > nowMs)
    .map((grant) => ({
      pattern: grant.pattern,
      deny: grant.deny,
      expires_at: grant.expiresAt === null ? null : new Date(grant.expiresAt).toISOString(),
    }))
}
