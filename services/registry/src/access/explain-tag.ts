import type { TagExplained } from '@repertoire/contract'
import { isHighRisk, ruleFor, type Caller, type GrantRecord } from '@repertoire/core'
import type { GrantRow } from '../stored.ts'

/** Who asks, why each grant was given, and when. */
export type TagContext = { readonly asker: Caller; readonly reasons: ReadonlyMap<string, GrantRow>; readonly nowMs: number }

/** Which grant or denial decides about one tag: the agent's, or that of the user it asks for. */
export function explainTag(tag: string, { asker, reasons, nowMs }: TagContext): TagExplained {
  const own = ruleFor(asker.grants, tag, nowMs)
  const users = asker.onBehalfOf === null ? undefined : ruleFor(asker.onBehalfOf.grants, tag, nowMs)
  const isUserAllowed = asker.onBehalfOf === null || allows(users)
  return {
    tag,
    allowed: allows(own) && isUserAllowed,
    high_risk: isHighRisk(tag),
    judged: allows(own) && !isUserAllowed ? 'user' : 'agent',
    rule: showRule(own, reasons),
    user_rule: showRule(users, reasons),
  }
}

function allows(rule: GrantRecord | undefined): boolean {
  return rule !== undefined && !rule.deny
}

function showRule(rule: GrantRecord | undefined, reasons: TagContext['reasons']): TagExplained['rule'] {
  if (rule === undefined) return null
  const grant = reasons.get(rule.id)
  return {
    id: rule.id,
    pattern: rule.pattern,
    deny: rule.deny,
    expires_at: rule.expiresAt === null ? null : new Date(rule.expiresAt).toISOString(),
    granted_by: grant?.grantedBy ?? null,
    reason: grant?.reason ?? null,
  }
}
