import type { Role } from '@repertoire/contract'
import { permit, type Permit } from './permit.ts'
import type { GrantRecord, SkillRecord, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'

/** Whoever makes this request. */
export type Caller = {
  readonly id: string
  readonly role: Role | 'system'
  readonly team: string | null
  readonly tenant: string | null
  readonly domains: readonly string[]
  readonly keyId: string | null
  readonly grants: readonly GrantRecord[]
}

/** What the service does of its own accord: seeding at start, automation. */
export const systemCaller: Caller = { id: 'system', role: 'system', team: null, tenant: null, domains: [], keyId: null, grants: [] }

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
export type Authorization = { readonly mayCall: boolean; readonly maySee: boolean; readonly permit: Permit }

/** What is asked for: one version of a skill. */
export type Resource = { readonly skill: SkillRecord; readonly version: VersionRecord }

/** Decides what a caller may do with a version: call it with its tags, and see it also by role or ownership. */
export function authorize(caller: Caller, { skill, version }: Resource, nowMs: number): Authorization {
  const verdict = permit(caller.grants, version.manifest.permission, nowMs)
  return { mayCall: verdict.allow, maySee: verdict.allow || seesEverything(caller) || owns(caller, skill), permit: verdict }
}

/** Whether a publisher's team owns the skill. */
export function owns(caller: Caller, skill: SkillRecord): boolean {
  return caller.role === 'publisher' && skill.team !== null && caller.team === skill.team
}
