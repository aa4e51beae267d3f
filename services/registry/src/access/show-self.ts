import type { Self } from '@repertoire/contract'
import { isKnownTo, type GrantRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'

/** Who the caller is, what it holds, the user it asks for, and what it declared. */
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
  }
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
