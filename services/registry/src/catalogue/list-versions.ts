import type { VersionList } from '@repertoire/contract'
import { absent, authorize, contextOf, denied, mayPin, nameKey, type Asking, type SkillRecord, type VersionRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { askingOf, type Visit } from '../visit.ts'

/** The versions of a skill that the caller may see, newest first. */
export function listVersions(
  deps: Deps,
  visit: Visit,
  { name }: { readonly name: string },
): { readonly list: VersionList; readonly skillRevision: number } {
  const skill = deps.snapshot().skills.get(nameKey(name))
  if (skill === undefined) throw absent(name)
  const asking = askingOf(visit, deps.clock.now().getTime())
  const visible = skill.versions.filter((version) => isVisible(skill, version, asking))
  if (visible.length === 0) throw refuseAll(skill, name, asking)
  return { list: { items: visible.map((version) => showItem(skill, version)), next_cursor: null }, skillRevision: skill.revision }
}

function showItem(skill: SkillRecord, version: VersionRecord): VersionList['items'][number] {
  const rollout = skill.rollouts.find((active) => active.candidate === version.version)
  return {
    version: version.version,
    line: version.line,
    status: version.status,
    stable: skill.stable.get(version.line)?.version === version.version,
    rollout: rollout === undefined ? null : { id: rollout.id, state: rollout.state, percent: rollout.basisPoints / 100 },
    digest: version.digest,
    schema_digest: version.schemaDigest,
    published_at: version.publishedAt,
    published_by: version.publishedBy,
    status_reason: version.statusReason,
    sunset_at: version.sunsetAt,
    replacement: version.replacement,
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
