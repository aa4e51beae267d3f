import { hasRole, owns, seesEverything, type Caller } from '../caller.ts'
import { isKnownTo } from '../admit.ts'
import { nameKey } from '../names.ts'
import type { SkillRecord, Snapshot } from '../records.ts'
import { Refusal } from '../refusal.ts'

/** What somebody may count: everything; everything but agents of a skill its team owns; or its own calls. */
export type ReadingScope = 'everything' | 'own_skill' | 'own_calls'

/** The one predicate of what is counted: by role, by ownership of the skill that is asked for, or one's own calls. */
export function readingScope(caller: Caller, skill: SkillRecord | undefined): ReadingScope {
  if (seesEverything(caller)) return 'everything'
  return skill !== undefined && owns(caller, skill) ? 'own_skill' : 'own_calls'
}

/** A skill's name as its author wrote it, which is how rows hold it; one that the caller may not know of stays as it was asked for. */
export function nameInRows(snapshot: Snapshot, name: string, asking: { readonly caller: Caller; readonly nowMs: number }): string {
  const skill = snapshot.skills.get(nameKey(name))
  return skill !== undefined && isKnownTo(skill, asking.caller, asking.nowMs) ? skill.name : name
}

/** Whose calls are read: those asked for where the caller sees everything, else its own and no others. */
export function agentToRead(caller: Caller, asked: string | undefined): string | undefined {
  if (seesEverything(caller)) return asked
  if (asked !== undefined && asked !== caller.id)
    throw new Refusal('ROLE_REQUIRED', 'An agent reads its own calls only.', {
      hint: 'leave agent out, or use a key of auditor, operator or admin',
    })
  return caller.id
}

/** Refuses whoever may count neither everything nor this skill as its owner. */
export function requireReading(caller: Caller, skill: SkillRecord | undefined): void {
  if (readingScope(caller, skill) !== 'own_calls') return
  throw new Refusal('ROLE_REQUIRED', 'This counts calls of all agents.', {
    hint: hasRole(caller, 'publisher')
      ? 'name a skill that your team owns'
      : 'use a key of auditor, operator or admin, or of the publisher that owns the skill',
  })
}
