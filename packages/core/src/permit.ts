import type { GrantRecord } from './records.ts'

/** Whether every tag is held, which are missing, which of those a denial takes away, and the grant or denial that decided. */
export type Permit = {
  readonly allow: boolean
  readonly missing: readonly string[]
  readonly denied: readonly string[]
  readonly ruleId: string
}

// A wildcard never covers these: whoever hands them out has to name them.
const highRisk = ['exec', 'fs:write', 'secrets', 'payments', 'smtp', 'network', 'payload']

/** Decides whether the holder of some grants may use what requires some tags: unknown is deny, and deny beats allow. */
export function permit(grants: readonly GrantRecord[], tags: readonly string[], nowMs: number): Permit {
  if (tags.length === 0) return open
  const rules = compile(grants)
  const missing: string[] = []
  const denied: string[] = []
  let ruleId = 'none'
  for (const tag of tags) {
    const rule = decidingRule(rules, tag, nowMs)
    if (rule === undefined || rule.deny) {
      if (missing.length === 0) ruleId = rule?.id ?? 'none'
      missing.push(tag)
      if (rule !== undefined) denied.push(tag)
    } else if (missing.length === 0) ruleId = rule.id
  }
  return { allow: missing.length === 0, missing, denied, ruleId }
}

/** The grant or denial that decides about one tag; undefined when nothing covers it, which means no. */
export function ruleFor(grants: readonly GrantRecord[], tag: string, nowMs: number): GrantRecord | undefined {
  return decidingRule(compile(grants), tag, nowMs)
}

const open: Permit = { allow: true, missing: [], denied: [], ruleId: 'open' }

/** The one spelling of a tag: `filesystem` is `fs`. */
export function normaliseTag(tag: string): string {
  return tag === 'filesystem' ? 'fs' : tag.startsWith('filesystem:') ? `fs:${tag.slice('filesystem:'.length)}` : tag
}

/** Whether a tag is one that only an explicit grant covers. */
export function isHighRisk(tag: string): boolean {
  return tag === 'fs' || highRisk.some((risky) => tag === risky || tag.startsWith(`${risky}:`))
}

/** The rules of an agent by what they cover: a tag itself, or everything below a prefix. */
type Rules = { readonly exact: ReadonlyMap<string, readonly GrantRecord[]>; readonly below: ReadonlyMap<string, readonly GrantRecord[]> }

// The grants of an agent are another array once one of them changes, so what is compiled of them goes with them.
const compiled = new WeakMap<readonly GrantRecord[], Rules>()

function compile(grants: readonly GrantRecord[]): Rules {
  const known = compiled.get(grants)
  if (known !== undefined) return known
  const exact = new Map<string, GrantRecord[]>()
  const below = new Map<string, GrantRecord[]>()
  for (const grant of grants) {
    const pattern = normaliseTag(grant.pattern)
    if (pattern === '*') note(below, '', grant)
    else if (pattern.endsWith(':*')) note(below, pattern.slice(0, -2), grant)
    else note(exact, pattern, grant)
  }
  const rules = { exact, below }
  compiled.set(grants, rules)
  return rules
}

function note(rules: Map<string, GrantRecord[]>, key: string, grant: GrantRecord): void {
  const known = rules.get(key)
  if (known === undefined) rules.set(key, [grant])
  else known.push(grant)
}

function decidingRule({ exact, below }: Rules, asked: string, nowMs: number): GrantRecord | undefined {
  const tag = normaliseTag(asked)
  // A wildcard grant never covers what is of high risk; a wildcard denial does.
  const wildcardsAllow = !isHighRisk(tag)
  let allowing: GrantRecord | undefined
  const look = (rules: readonly GrantRecord[] | undefined, mayAllow: boolean): GrantRecord | undefined => {
    for (const rule of rules ?? []) {
      if (rule.expiresAt !== null && rule.expiresAt <= nowMs) continue
      if (rule.deny) return rule
      if (mayAllow) allowing ??= rule
    }
    return undefined
  }
  const denying = look(exact.get(tag), true) ?? look(below.get(''), wildcardsAllow)
  if (denying !== undefined) return denying
  for (let end = tag.indexOf(':'); end !== -1; end = tag.indexOf(':', end + 1)) {
    const denial = look(below.get(tag.slice(0, end)), wildcardsAllow)
    if (denial !== undefined) return denial
  }
  return allowing
}
