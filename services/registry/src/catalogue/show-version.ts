import type { Resolution, SkillDetail, SkillListItem, Warning } from '@repertoire/contract'
import type { Resolved, SkillRecord, VersionRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** A version as its readers see it, with how it was resolved. */
export function showVersion(
  skill: SkillRecord,
  version: VersionRecord,
  { resolution, measured }: { readonly resolution: Resolution; readonly measured: SkillDetail['measured'] },
): SkillDetail {
  const { manifest } = version
  return {
    name: skill.name,
    version: version.version,
    status: version.status,
    kind: version.kind,
    description: manifest.description,
    summary: manifest.summary ?? null,
    when_to_use: manifest.when_to_use ?? null,
    when_not_to_use: manifest.when_not_to_use ?? null,
    input: manifest.input ?? null,
    output: manifest.output ?? null,
    author: manifest.author ?? null,
    domain: manifest.domain ?? null,
    permission: manifest.permission,
    private: manifest.private,
    tags: manifest.tags,
    examples: manifest.examples,
    errors: manifest.errors,
    effects: manifest.effects,
    probe: manifest.probe ?? null,
    timeout_ms: manifest.timeout_ms,
    executor: manifest.executor ?? (version.kind === 'code' ? { kind: 'code' } : null),
    unlocks: manifest.unlocks,
    input_schema: JSON.parse(version.inputSchema),
    output_schema: version.outputSchema === null ? null : JSON.parse(version.outputSchema),
    schema_digest: version.schemaDigest,
    digest: version.digest,
    instructions: version.instructions,
    files: version.files.map(({ path, bytes, digest }) => ({ path, bytes, digest })),
    defaults: { ...version.defaults },
    extra: { ...version.extra },
    status_reason: version.statusReason,
    status_changed_at: version.statusChangedAt,
    sunset_at: version.sunsetAt,
    replacement: version.replacement,
    published_at: version.publishedAt,
    published_by: version.publishedBy,
    measured,
    resolution,
  }
}

/** What calls of a version took in the last week, from memory: who may see the version may know how it does. */
export function showMeasured(deps: Deps, skill: SkillRecord, version: VersionRecord): SkillDetail['measured'] {
  const measured = deps.counts.measured(skill.name, version.version)
  if (measured === undefined) return null
  const { calls, p50Ms, p95Ms, meanResultBytes, failureRate } = measured
  return { window: '7d', calls, p50_ms: p50Ms, p95_ms: p95Ms, result_bytes: meanResultBytes, error_rate: failureRate }
}

/** How a version was chosen, as its readers see it. */
export function showResolution(resolved: Resolved, requestedRange: string): Resolution {
  return {
    version: resolved.version.version,
    via: resolved.via,
    requested_range: requestedRange,
    rollout_id: resolved.rolloutId,
    warnings: resolved.warnings.map((warning) => ({ ...warning })),
  }
}

/** One entry of a list: its name alone, what a model chooses by, or everything it calls with. */
export function showListItem(
  skill: SkillRecord,
  version: VersionRecord,
  shown: { readonly via: string | null; readonly view: 'names' | 'summary' | 'full'; readonly warnings: readonly Warning[] },
): SkillListItem {
  const { manifest } = version
  const base: SkillListItem = {
    name: skill.name,
    version: version.version,
    via: shown.via,
    status: version.status,
    description: manifest.description,
    kind: version.kind,
  }
  if (shown.view === 'names') return { ...base, description: manifest.summary ?? manifest.description }
  const summary: SkillListItem = {
    ...base,
    ...(manifest.summary === undefined ? {} : { summary: manifest.summary }),
    ...(manifest.when_to_use === undefined ? {} : { when_to_use: manifest.when_to_use }),
    ...(manifest.when_not_to_use === undefined ? {} : { when_not_to_use: manifest.when_not_to_use }),
    ...(manifest.domain === undefined ? {} : { domain: manifest.domain }),
    tags: manifest.tags,
    permission: manifest.permission,
    effects: manifest.effects,
    schema_digest: version.schemaDigest,
    warnings: shown.warnings.map((warning) => ({ ...warning })),
  }
  if (shown.view === 'summary') return summary
  return {
    ...summary,
    input_schema: JSON.parse(version.inputSchema),
    output_schema: version.outputSchema === null ? null : JSON.parse(version.outputSchema),
    examples: manifest.examples,
  }
}
