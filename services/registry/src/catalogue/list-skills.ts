import type { ListSkillsQuery, Warning } from '@repertoire/contract'
import {
  rangesFor,
  readCursor,
  seesEverything,
  tryAdmit,
  writeCursor,
  type Asking,
  type SkillRecord,
  type VersionRecord,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'
import { showListItem } from './show-version.ts'

/** One skill as it will be shown; the entry is only written out when the reader does not have it yet. */
export type ListedSkill = {
  readonly skill: SkillRecord
  readonly version: VersionRecord
  readonly via: string | null
  readonly warnings: readonly Warning[]
}

/** A page of skills before it is written out: what it was built from, and how to write it. */
export type SkillPage = {
  readonly revision: number
  readonly listed: readonly ListedSkill[]
  readonly nextCursor: string | null
  readonly write: () => unknown
}

/** The skills a caller may use, each resolved for it, in the order of their first publication. */
export function listSkills(deps: Deps, visit: Visit, query: ListSkillsQuery): SkillPage {
  const snapshot = deps.snapshot()
  const asking = askingOf(visit, deps.clock.now().getTime())
  const after = readCursor(query.cursor, /^\d+:[a-z0-9_]+$/)
  const listed: ListedSkill[] = []
  let nextCursor: string | null = null
  for (const skill of snapshot.ordered) {
    if (after !== undefined && !isAfter(skill, after)) continue
    const entry = listOne(skill, asking)
    if (entry === undefined || !inDomain(entry.version, visit, query.domain)) continue
    if (listed.length === query.limit) {
      const last = listed.at(-1)
      nextCursor = last === undefined ? null : writeCursor(`${last.skill.position}:${last.skill.key}`)
      break
    }
    listed.push(entry)
  }
  if (visit.caller.role === 'agent') {
    deps.shown.note({
      kind: 'list',
      agentId: visit.caller.id,
      session: visit.session,
      revision: snapshot.revision,
      query: `${query.view} ${query.domain ?? ''} ${query.cursor ?? ''}`.trim(),
      items: listed.map((entry) => `${entry.skill.name}@${entry.version.version}`),
    })
  }
  return {
    revision: snapshot.revision,
    listed,
    nextCursor,
    write: () => ({
      items: listed.map((entry) =>
        showListItem(entry.skill, entry.version, { via: entry.via, view: query.view, warnings: entry.warnings }),
      ),
      next_cursor: nextCursor,
    }),
  }
}

function listOne(skill: SkillRecord, asking: Asking): ListedSkill | undefined {
  const admission = tryAdmit(skill, rangesFor(skill.name, asking), asking)
  if (admission !== undefined) {
    // A list of what may be used has nothing to say about a range nobody gave.
    const warnings = admission.resolved.warnings.filter((warning) => warning.code !== 'unbounded_range')
    return { skill, version: admission.resolved.version, via: admission.resolved.via, warnings }
  }
  const newest = skill.versions[0]
  return newest !== undefined && seesEverything(asking.caller) ? { skill, version: newest, via: null, warnings: [] } : undefined
}

function isAfter(skill: SkillRecord, after: string): boolean {
  const colon = after.indexOf(':')
  const position = Number(after.slice(0, colon))
  return skill.position > position || (skill.position === position && skill.key > after.slice(colon + 1))
}

// An agent sees its own domains unless it asks beyond them; this narrows what is offered and permits nothing.
function inDomain(version: VersionRecord, visit: Visit, asked: string | undefined): boolean {
  const { domain } = version.manifest
  if (asked === '*') return true
  if (asked !== undefined) return domain === asked
  return visit.caller.domains.length === 0 || domain === undefined || visit.caller.domains.includes(domain)
}
