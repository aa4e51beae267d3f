import type { GrantRecord } from './records.ts'

/** Whether every tag is held, which are missing, which of those a denial takes away, and the grant or denial that decided. */
export type Permit = {
  readonly allow: boolean
  readonly missing: readonly string[]
  readonly denied: readonly string[]
  readonly ruleId: string
}

// A wildcard never covers these: whoever hands them out has to name them.
const highRisk = ['exec', 'fs:write', 'secrets', 'payments', 'smtp', 'network']

/** Decides whether the holder of some grants may use what requires some tags: unknown is deny, and deny beats allow. */
export function permit(grants: readonly GrantRecord[], tags: readonly string[], nowMs: number): Permit {
  if (tags.length === 0) return { allow: true, missing: [], denied: [], ruleId: 'open' }
  const missing: string[] = []
  const denied: string[] = []
  let ruleId = 'none'
  for (const tag of tags) {
    const rule = decidingRule(grants, normaliseTag(tag), nowMs)
    if (rule === undefined || rule.deny) {
      if (missing.length === 0) ruleId = rule?.id ?? 'none'
      missing.push(tag)
      if (rule !== undefined) denied.push(tag)
    } else if (missing.length === 0) ruleId = rule.id
  }
  return { allow: missing.length === 0, missing, denied, ruleId }
}

/** The one spelling of a tag: `filesystem` is `fs`. */
export function normaliseTag(tag: string): string {
  return tag === 'filesystem' ? 'fs' : tag.startsWith('filesystem:') ? `fs:${tag.slice('filesystem:'.length)}` : tag
}

/** Whether a tag is one that only an explicit grant covers. */
export function isHighRisk(tag: string): boolean {
  return tag === 'fs' || highRisk.some((risky) => tag === risky || tag.startsWith(`${risky}:`))
}

function decidingRule(grants: readonly GrantRecord[], tag: string, nowMs: number): GrantRecord | undefined {
  let allowing: GrantRecord | undefined
  for (const grant of grants) {
    if (grant.expiresAt !== null && grant.expiresAt <= nowMs) continue
    if (!covers(normaliseTag(grant.pattern), tag, grant.deny)) continue
    if (grant.deny) return grant
    allowing ??= grant
  }
  return allowing
}

function covers(pattern: string, tag: string, deny: boolean): boolean {
  if (pattern === tag) return true
  if (!pattern.endsWith('*')) return false
  if (!deny && isHighRisk(tag)) return false
  return pattern === '*' || (pattern.endsWith(':*') && tag.startsWith(pattern.slice(0, -1)))
}
