import { Refusal } from '@repertoire/core'
import type { Transaction } from '../ports.ts'
import type { LockedSkill } from '../stored.ts'

/** The skill's revision that an ETag of ours names; null where any will do, undefined where it names none. */
export function revisionOf(ifMatch: string): number | null | undefined {
  if (ifMatch.trim() === '*') return null
  const found = /^\s*(?:W\/)?"?(\d{1,15})\.[\w-]*"?\s*$/.exec(ifMatch)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Refuses a command that was decided upon another state of the skill, and says what has changed since. */
export async function requireMatch(tx: Transaction, skill: LockedSkill, ifMatch: string): Promise<void> {
  const known = readMatch(ifMatch)
  if (known === null || known === skill.revision) return
  const last = await tx.audit.lastAbout(skill.name, known)
  const since = last === undefined ? '' : `: ${last.caller} did ${last.action} of ${last.subject} at ${last.at.toISOString()}`
  throw mismatch(skill, { known, since, reason: last?.reason ?? null })
}

/** Reads If-Match; what is no ETag of ours is INVALID_REQUEST. */
export function readMatch(ifMatch: string): number | null {
  const known = revisionOf(ifMatch)
  if (known !== undefined) return known
  throw new Refusal('INVALID_REQUEST', 'If-Match is not an ETag of a skill or a rollout.', {
    hint: 'send the ETag header of GET /v1/skills/{name} as it came, or *',
    details: [{ path: 'If-Match', rule: 'etag', got: ifMatch.slice(0, 80) }],
  })
}

/** The refusal for a skill that has changed since it was read. */
export function mismatch(
  skill: Pick<LockedSkill, 'name' | 'revision'>,
  { known, since, reason }: { readonly known: number; readonly since: string; readonly reason: string | null },
): Refusal {
  return new Refusal('REVISION_MISMATCH', `${skill.name} has changed since you read it${since}.`, {
    hint: `${reason === null ? '' : `the reason given was: ${reason}; `}read it again, then decide`,
    details: [{ path: 'If-Match', rule: 'revision', expected: String(skill.revision), got: String(known) }],
  })
}
