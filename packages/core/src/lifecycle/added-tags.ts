import { normaliseTag } from '../permit.ts'
import { Refusal } from '../refusal.ts'
import { wasReleased } from '../snapshot.ts'
import { findVersion, newestServable, type Order, type SkillFacts, type VersionFacts } from './facts.ts'

/** The tags a version needs and another does not; none where there is nothing to compare with. */
function addedTags(version: VersionFacts, before: VersionFacts | undefined): string[] {
  if (before === undefined) return []
  const known = new Set(before.permission.map(normaliseTag))
  return version.permission.filter((tag) => !known.has(normaliseTag(tag)))
}

/**
 * What those who will get a version get today, or got last: what the line serves; below that, the newest that ranges with an
 * upper bound get; in a line that serves nothing any more, the newest that was ever released.
 */
export function servedBefore(facts: SkillFacts, version: VersionFacts): VersionFacts | undefined {
  const stable = facts.stable.get(version.line)
  if (stable !== undefined && version.semver.compare(stable) > 0) return findVersion(facts, stable)
  const below = newestServable(facts, version.line, { below: version.semver })
  if (stable !== undefined) return below
  return facts.versions
    .filter((known) => known.line === version.line && known.version !== version.version && wasReleased(known))
    .sort((a, b) => b.semver.compare(a.semver))[0]
}

/** Refuses to serve a version that needs more than what its line serves, unless the order names what it adds. */
export function requireAcceptedTags(
  facts: SkillFacts,
  { version, before }: { readonly version: VersionFacts; readonly before: VersionFacts | undefined },
  { acceptTags = [] }: Order,
): void {
  const accepted = new Set(acceptTags.map(normaliseTag))
  const missing = addedTags(version, before).filter((tag) => !accepted.has(normaliseTag(tag)))
  if (missing.length === 0) return
  throw new Refusal(
    'ILLEGAL_TRANSITION',
    `${facts.name} ${version.version} needs ${missing.join(', ')}, which ${before?.version ?? 'nothing'} does not: agents without it would be denied.`,
    {
      hint: `grant it to those who need it, then name what is added: accept_tags (${missing.map((tag) => `--accept-tag ${tag}`).join(' ')})`,
      details: missing.map((tag) => ({ path: '/accept_tags', rule: 'added_tag', expected: tag })),
    },
  )
}
