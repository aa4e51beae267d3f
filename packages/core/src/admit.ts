import { authorize, hasRole, holdsTags, owns, seesEverything, type Authorization, type Caller } from './caller.ts'
import { nameKey } from './names.ts'
import { parseRange, type ParsedRange } from './range.ts'
import type { SkillRecord, Snapshot, UnitKind, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import { wasReleased } from './snapshot.ts'
import { resolve, tryResolve, type ResolveContext, type Resolved } from './resolve.ts'

/** What a request says beside the skill's name: the ranges that bind it and the units it is part of. */
export type Asking = {
  readonly caller: Caller
  readonly nowMs: number
  /** The range of this very request, when it names one. */
  readonly range?: string | undefined
  /** Ranges by skill key, from the header and from what the instance declared. */
  readonly standing: readonly ReadonlyMap<string, string>[]
  readonly units: Readonly<Partial<Record<UnitKind, string>>>
  /** Milliseconds since anybody confirmed that the catalogue is the newest. */
  readonly unconfirmedMs?: number
}

/** A skill that the caller may at least see, the version it gets, and what it may do with it. */
export type Admission = {
  readonly skill: SkillRecord
  readonly resolved: Resolved
  readonly ranges: readonly ParsedRange[]
  readonly authorization: Authorization
}

/**
 * Finds a skill by name, resolves it and judges the caller, in the order that leaks nothing: what a caller may not know of
 * answers as if it were absent, and what it may not call answers with the missing tag and nothing else.
 */
export function admit(snapshot: Snapshot, name: string, asking: Asking): Admission {
  const ranges = rangesFor(name, asking)
  const skill = snapshot.skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  try {
    return admitTo(skill, ranges, asking)
  } catch (error) {
    // The name as it was asked for, so that a hidden skill answers byte for byte like an absent one.
    throw error instanceof Refusal && error.code === 'SKILL_NOT_FOUND' ? absent(name) : error
  }
}

/** The same for a skill that was found already. */
export function admitTo(skill: SkillRecord, ranges: readonly ParsedRange[], asking: Asking): Admission {
  const context = contextOf(asking)
  let resolved: Resolved
  try {
    resolved = resolve(skill, ranges, context)
  } catch (error) {
    throw hideCause(error, skill, asking)
  }
  const authorization = authorize(asking.caller, { skill, version: resolved.version }, asking.nowMs)
  if (!authorization.maySee) throw denied(skill, authorization, asking.caller)
  return { skill, resolved, ranges, authorization }
}

/** The same for lists: undefined where the caller gets nothing, without saying why. */
export function tryAdmit(skill: SkillRecord, ranges: readonly ParsedRange[], asking: Asking): Admission | undefined {
  const resolved = tryResolve(skill, ranges, contextOf(asking))
  if (typeof resolved === 'function') return undefined
  const authorization = authorize(asking.caller, { skill, version: resolved.version }, asking.nowMs)
  return authorization.maySee ? { skill, resolved, ranges, authorization } : undefined
}

/** Every range that binds a request for one skill; none means any version. */
export function rangesFor(name: string, asking: Asking): ParsedRange[] {
  const key = nameKey(name)
  const texts = [asking.range, ...asking.standing.map((ranges) => ranges.get(key))].filter((text) => text !== undefined)
  return [...new Set(texts.length === 0 ? ['*'] : texts)].map((text) => parseRange(text))
}

/** What resolution needs to know, from a request. */
export function contextOf(asking: Asking): ResolveContext {
  const { caller } = asking
  return {
    agentId: caller.id,
    team: caller.team,
    pinsCandidates: hasRole(caller, 'operator'),
    holds: (version) => holdsTags(caller, version, asking.nowMs),
    isNarrowed: caller.onBehalfOf !== null,
    units: asking.units,
    seesAll: seesEverything(caller),
    isUnconfirmed: isUnconfirmed(asking),
  }
}

// As long as a rollback takes at most to reach a replica that is cut off, and no longer.
const leaseMs = 60_000

/** Whether the catalogue a question is answered from was not confirmed for so long that a rollback may have been missed. */
export function isUnconfirmed({ unconfirmedMs = 0 }: Pick<Asking, 'unconfirmedMs'>): boolean {
  return unconfirmedMs > leaseMs
}

/** Whether somebody may know of a skill at all: by its newest stable version, by role, or because its team owns it. */
export function isKnownTo(skill: SkillRecord, caller: Caller, nowMs: number): boolean {
  if (seesEverything(caller) || owns(caller, skill)) return true
  const newest = newestStable(skill)
  return newest !== undefined && authorize(caller, { skill, version: newest }, nowMs).maySee
}

/** The refusal for a skill that is not there, or must look as if it were not. */
export function absent(name: string): Refusal {
  return new Refusal('SKILL_NOT_FOUND', `There is no skill ${name} for this caller.`, {
    hint: 'list the skills to see what there is (repertoire list, GET /v1/skills)',
  })
}

/** The refusal for a skill the caller may not call: the missing tag and nothing else. */
export function denied(skill: SkillRecord, authorization: Authorization, caller: Caller): Refusal {
  if (skill.private) return absent(skill.name)
  const { missing, denied: taken, ruleId } = authorization.permit
  const needs = `${skill.name} needs ${missing.length === 1 ? `the tag ${missing[0]}` : `the tags ${missing.join(', ')}`}`
  const details = missing.map((tag) => ({ rule: 'permission', expected: tag }))
  const user = authorization.judged === 'user' ? caller.onBehalfOf?.subject : undefined
  const id = user ?? caller.id
  const whose = user === undefined ? `agent ${id}` : `user ${id}, for whom ${caller.id} asks,`
  // Another grant would not help against a denial, which beats them all.
  if (taken.length > 0) {
    return new Refusal('PERMISSION_DENIED', `${needs}; ${whose} is denied ${taken.join(', ')}.`, {
      hint: `an admin sees the denial with repertoire grants ${id}, and takes it back with repertoire revoke ${id} ID`,
      details,
      ruleId,
    })
  }
  const grants = missing.map((tag) => `repertoire grant ${id} ${tag} --reason "…"`).join('; ')
  return new Refusal('PERMISSION_DENIED', `${needs}; ${whose} does not hold ${missing.length === 1 ? 'it' : 'them'}.`, {
    hint: user === undefined ? `ask an admin: ${grants}` : `ask an admin: by the claims of its token, or registered as an agent: ${grants}`,
    details,
    ruleId,
  })
}

// Whoever may not call the newest stable version learns nothing from a range that failed.
function hideCause(error: unknown, skill: SkillRecord, asking: Asking): unknown {
  if (!(error instanceof Refusal) || seesEverything(asking.caller) || owns(asking.caller, skill)) return error
  const newest = newestStable(skill)
  if (newest === undefined) return absent(skill.name)
  const authorization = authorize(asking.caller, { skill, version: newest }, asking.nowMs)
  return authorization.maySee ? error : denied(skill, authorization, asking.caller)
}

// Where every version was withdrawn, the newest that was released is judged by.
function newestStable(skill: SkillRecord): VersionRecord | undefined {
  return [...skill.stable.values()].sort((a, b) => b.semver.compare(a.semver))[0] ?? skill.versions.find(wasReleased)
}
