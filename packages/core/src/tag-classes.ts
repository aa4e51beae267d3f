import { TagClass, type TagClasses, type Warning } from '@repertoire/contract'
import { normaliseTag, permit } from './permit.ts'
import type { GrantRecord } from './records.ts'
import { Refusal } from './refusal.ts'

/** A class of tags that somebody reaches, and the grants that give it. */
export type ReachedClass = { readonly tagClass: TagClass; readonly grants: readonly GrantRecord[] }

const names: Record<TagClass, string> = { private_data: 'private data', untrusted_content: 'untrusted content', way_out: 'a way out' }

/**
 * Which classes the holder of some grants reaches: a grant gives a class when there is, or could be, a tag of that class that
 * it allows and no denial takes away.
 */
export function reachedClasses(grants: readonly GrantRecord[], classes: TagClasses, nowMs: number): ReachedClass[] {
  const denials = grants.filter((grant) => grant.deny)
  // No rule can name a segment that is longer than all of them: it stands for every tag that nobody has thought of.
  const unnamed = 'x'.repeat(Math.max(0, ...grants.map((grant) => grant.pattern.length)) + 1)
  const givers = grants.filter((grant) => !grant.deny).map((grant) => ({ grant, held: [grant, ...denials] }))
  return TagClass.options.flatMap((tagClass) => {
    const giving = givers.filter(({ grant, held }) =>
      classes[tagClass].some((pattern) => {
        const tag = commonTag(normaliseTag(grant.pattern), normaliseTag(pattern), unnamed)
        return tag !== undefined && permit(held, [tag], nowMs).allow
      }),
    )
    return giving.length === 0 ? [] : [{ tagClass, grants: giving.map(({ grant }) => grant) }]
  })
}

/** Some grants before and after one of them came or went. */
export type GrantsChanged = { readonly before: readonly GrantRecord[]; readonly after: readonly GrantRecord[] }

/** All classes, with the grants that give them, where it is this change after which none is missing; undefined where it is not. */
export function completedClasses({ before, after }: GrantsChanged, classes: TagClasses, nowMs: number): ReachedClass[] | undefined {
  const reached = reachedClasses(after, classes, nowMs)
  if (reached.length < TagClass.options.length) return undefined
  return reachedClasses(before, classes, nowMs).length < reached.length ? reached : undefined
}

/** The warning that names the classes, and for each the patterns that give it. */
export function warnOfClasses(agentId: string, reached: readonly ReachedClass[]): Warning {
  return {
    code: 'all_tag_classes',
    message: `${agentId} holds ${reached.map(({ tagClass, grants }) => `${names[tagClass]} (${patternsOf(grants)})`).join(', ')}: what it reads from strangers may make it send out what is private.`,
  }
}

/** The refusal of a grant that would give all classes to one agent, unless the risk is accepted. */
export function refuseClasses(agentId: string, reached: readonly ReachedClass[]): Refusal {
  return new Refusal('ILLEGAL_TRANSITION', `With this grant ${warnOfClasses(agentId, reached).message}`, {
    hint: 'give one of them to another agent, or say that the risk is accepted: accept_risk (--accept-risk)',
    details: reached.map(({ tagClass, grants }) => ({
      path: '/accept_risk',
      rule: 'tag_classes',
      expected: tagClass,
      got: patternsOf(grants),
    })),
  })
}

function patternsOf(grants: readonly GrantRecord[]): string {
  return [...new Set(grants.map((grant) => grant.pattern))].join(', ')
}

/** A tag that two patterns have in common, the least special one there is; undefined when they share none. */
function commonTag(one: string, other: string, unnamed: string): string | undefined {
  const [a, b] = [prefixOf(one), prefixOf(other)]
  if (a === undefined && b === undefined) return one === other ? one : undefined
  if (a === undefined) return isBelow(one, b) ? one : undefined
  if (b === undefined) return isBelow(other, a) ? other : undefined
  const [above, below] = a.length <= b.length ? [a, b] : [b, a]
  if (above !== below && !isBelow(below, above)) return undefined
  return below === '' ? unnamed : `${below}:${unnamed}`
}

/** What a wildcard covers everything below of; undefined for a tag itself. */
function prefixOf(pattern: string): string | undefined {
  return pattern === '*' ? '' : pattern.endsWith(':*') ? pattern.slice(0, -2) : undefined
}

function isBelow(tag: string, prefix: string | undefined): boolean {
  return prefix === '' || (prefix !== undefined && tag.startsWith(`${prefix}:`))
}
