import type { VersionList } from '@repertoire/contract'
import { absent, authorize, contextOf, denied, mayPin, nameKey, type Asking, type SkillRecord, type VersionRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'

/** The versions of a skill that the caller may see, newest first. */
export function listVersions(deps: Deps, visit: Visit, { name }: { readonly name: string }): VersionList {
  const skill = deps.snapshot().skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  const asking = askingOf(visit, deps.clock.now().getTime())
  const visible = skill.versions.filter((version) => isVisible(skill, version, asking))
  if (visible.length === 0) throw refuseAll(skill, name, asking)
  return {
    items: visible.map((version) => ({
      version: version.version,
      line: version.line,
      status: version.status,
      stable: skill.stable.get(version.line)?.version === version.version,
      digest: version.digest,
      schema_digest: version.schemaDigest,
      published_at: version.publishedAt,
      published_by: version.publishedBy,
      status_reason: version.statusReason,
    })),
    next_cursor: null,
  }
}

function isVisible(skill: SkillRecord, version: VersionRecord, asking: Asking): boolean {
  return authorize(asking.caller, { skill, version }, asking.nowMs).maySee && mayPin(skill, version, contextOf(asking))
}

function refuseAll(skill: SkillRecord, asked: string, asking: Asking): Error {
  const newest = [...skill.stable.values()].sort((a, b) => b.semver.compare(a.semver))[0]
  if (newest === undefined || skill.private) return absent(asked)
  return denied(skill, authorize(asking.caller, { skill, version: newest }, asking.nowMs), asking.caller)
}
