import type { Role } from '@repertoire/contract'
import { permit, type Permit } from './permit.ts'
import type { GrantRecord, SkillRecord, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'

/** The user an agent asks for, and what that user holds. */
export type OnBehalfOf = { readonly subject: string; readonly grants: readonly GrantRecord[] }

/** Whoever makes this request. */
export type Caller = {
  readonly id: string
  readonly role: Role | 'system'
  readonly team: string | null
  readonly tenant: string | null
  readonly domains: readonly string[]
  readonly keyId: string | null
  readonly grants: readonly GrantRecord[]
  /** There when it asks for a user: then both have to be allowed. */
  readonly onBehalfOf: OnBehalfOf | null
}

/** What the service does of its own accord: seeding at start, automation. */
export const systemCaller: Caller = {
  id: 'system',
  role: 'system',
  team: null,
  tenant: null,
  domains: [],
  keyId: null,
  grants: [],
  onBehalfOf: null,
}

/** A caller that asks for a user. Roles manage and see beyond tags, which no user gave it: it is an agent, whatever it was. */
export function narrowTo(caller: Caller, user: OnBehalfOf): Caller {
  return { ...caller, role: 'agent', onBehalfOf: user }
}

const satisfiedBy: Record<Role, readonly (Role | 'system')[]> = {
  agent: ['agent', 'publisher', 'operator', 'auditor', 'admin', 'system'],
  publisher: ['publisher', 'operator', 'admin', 'system'],
  operator: ['operator', 'admin', 'system'],
  auditor: ['auditor', 'operator', 'admin', 'system'],
  admin: ['admin', 'system'],
}

/** Whether a caller's role covers what a role may do. */
export function hasRole(caller: Caller, role: Role): boolean {
  return satisfiedBy[role].includes(caller.role)
}

/** Refuses with ROLE_REQUIRED unless the caller's role covers the one named. */
export function requireRole(caller: Caller, role: Role): void {
  if (hasRole(caller, role)) return
  throw new Refusal('ROLE_REQUIRED', `This needs the role ${role}; ${caller.id} is ${caller.role}.`, {
    hint: `use a key of ${satisfiedBy[role].filter((name) => name !== 'system').join(' or ')}`,
  })
}

/** Whether a caller sees every skill without holding its tags. Seeing is never calling. */
export function seesEverything(caller: Caller): boolean {
  return hasRole(caller, 'auditor')
}

/** The one predicate: what a caller may do with one version of a skill. */
export type Authorization = { readonly mayCall: boolean; readonly maySee: boolean; readonly permit: Permit; readonly judged: Judged }

/** By whose grants and denials it was decided: the agent's, or those of the user it asks for. */
export type Judged = 'agent' | 'user'

/** What is asked for: one version of a skill. */
export type Resource = { readonly skill: SkillRecord; readonly version: VersionRecord }

/** Decides what a caller may do with a version: call it with its tags, and see it also by role or ownership. */
export function authorize(caller: Caller, { skill, version }: Resource, nowMs: number): Authorization {
  const { permission } = version.manifest
  const own = permit(caller.grants, permission, nowMs)
  const users = own.allow && caller.onBehalfOf !== null ? permit(caller.onBehalfOf.grants, permission, nowMs) : undefined
  // What the agent lacks is told first: no user could give it that.
  const isUsers = users !== undefined && !users.allow
  const verdict = isUsers ? { ...users, ruleId: `user:${users.ruleId}` } : own
  return {
    mayCall: verdict.allow,
    maySee: verdict.allow || seesEverything(caller) || owns(caller, skill),
    permit: verdict,
    judged: isUsers ? 'user' : 'agent',
  }
}

/** Whether a caller, and the user it asks for, hold every tag of a version. */
export function holdsTags({ grants, onBehalfOf }: Caller, { manifest }: VersionRecord, nowMs: number): boolean {
  if (!permit(grants, manifest.permission, nowMs).allow) return false
  return onBehalfOf === null || permit(onBehalfOf.grants, manifest.permission, nowMs).allow
}

/** Whether a caller may read the row of a call: its own, and where it asks for a user, those of that user alone. */
export function mayReadRow(caller: Caller, row: { readonly agent_id: string; readonly on_behalf_of: string | null }): boolean {
  if (seesEverything(caller)) return true
  return row.agent_id === caller.id && (caller.onBehalfOf === null || row.on_behalf_of === caller.onBehalfOf.subject)
}

/** Whether a publisher's team owns the skill. */
export function owns(caller: Caller, skill: SkillRecord): boolean {
  return caller.role === 'publisher' && skill.team !== null && caller.team === skill.team
}
