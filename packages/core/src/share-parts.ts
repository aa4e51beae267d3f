import type { SkillRecord, VersionRecord } from './records.ts'

// What is short is common to many skills. It comes from outside, so no more than this is remembered.
const maxCommon = 4096
const maxCommonLength = 64
const common = new Map<string, unknown>()

/** Versions often say the same as the ones beside them: each text and each part of a manifest is kept once. */
export function shareParts(versions: readonly VersionRecord[], old: SkillRecord | undefined): VersionRecord[] {
  const own = new Map<string, unknown>()
  const keep = <Part>(part: Part): Part => {
    if (part === null || part === undefined) return part
    // What is no text is told apart from the text that spells it.
    const key = typeof part === 'string' ? part : `\n${JSON.stringify(part)}`
    const pool = key.length <= maxCommonLength ? common : own
    const known = pool.get(key)
    if (known !== undefined) return known as Part
    if (common.size >= maxCommon) common.clear()
    pool.set(key, part)
    return part
  }
  const newest = old?.versions[0]
  if (newest !== undefined) share(newest, keep)
  return versions.map((version) => share(version, keep))
}

function share(version: VersionRecord, keep: <Part>(part: Part) => Part): VersionRecord {
  const { manifest, semver } = version
  return {
    ...version,
    skillId: keep(version.skillId),
    version: semver.version,
    line: keep(version.line),
    status: keep(version.status),
    formerStatus: keep(version.formerStatus),
    kind: keep(version.kind),
    source: keep(version.source),
    publishedBy: keep(version.publishedBy),
    publisherTeam: keep(version.publisherTeam),
    schemaDigest: keep(version.schemaDigest),
    inputSchema: keep(version.inputSchema),
    outputSchema: keep(version.outputSchema),
    instructions: keep(version.instructions),
    extra: keep(version.extra),
    defaults: keep(version.defaults),
    manifest: {
      ...manifest,
      name: keep(manifest.name),
      version: semver.version,
      description: keep(manifest.description),
      tags: keep(manifest.tags),
      permission: keep(manifest.permission),
      examples: keep(manifest.examples),
      errors: keep(manifest.errors),
      unlocks: keep(manifest.unlocks),
      ...(manifest.executor === undefined ? {} : { executor: keep(manifest.executor) }),
    },
  }
}
