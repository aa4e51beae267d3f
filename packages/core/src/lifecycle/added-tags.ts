import { normaliseTag } from '../permit.ts'
import { Refusal } from '../refusal.ts'
import { findVersion, type Order, type SkillFacts, type VersionFacts } from './facts.ts'

/** The tags a version needs and what its line serves does not; none where the line serves nothing. */
export function addedTags(facts: SkillFacts, version: VersionFacts): string[] {
  const stable = facts.stable.get(version.line)
  if (stable === undefined) return []
  const known = new Set(findVersion(facts, stable).permission.map(normaliseTag))
  return version.permission.filter((tag) => !known.has(normaliseTag(tag)))
}

/** Refuses to serve a version that needs more than what its line serves, unless the order names what it adds. */
export function requireAcceptedTags(facts: SkillFacts, version: VersionFacts, { acceptTags = [] }: Order): void {
  const accepted = new Set(acceptTags.map(normaliseTag))
  const missing = addedTags(facts, version).filter((tag) => !accepted.has(normaliseTag(tag)))
  if (missing.length === 0) return
  const stable = facts.stable.get(version.line) ?? 'nothing'
  throw new Refusal(
    'ILLEGAL_TRANSITION',
    `${facts.name} ${version.version} needs ${missing.join(', ')}, which ${stable} does not: agents without it would be denied.`,
    {
      hint: `grant it to those who need it, then name what is added: accept_tags (${missing.map((tag) => `--accept-tag ${tag}`).join(' ')})`,
      details: missing.map((tag) => ({ path: '/accept_tags', rule: 'added_tag', expected: tag })),
    },
  )
}
