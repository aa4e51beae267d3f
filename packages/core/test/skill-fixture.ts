import type { VersionStatus } from '@repertoire/contract'
import {
  applyChanges,
  emptySnapshot,
  lineOf,
  parseExact,
  type Changes,
  type RolloutRecord,
  type SkillRecord,
  type Snapshot,
  type VersionRecord,
} from '@repertoire/core'

/** A version as a test says it; everything else is filled in. */
export type VersionSketch = {
  readonly version: string
  readonly status?: VersionStatus
  readonly formerStatus?: VersionStatus
  readonly reason?: string
  readonly replacement?: string
  readonly permission?: string[]
  readonly isPrivate?: boolean
  readonly schema?: string
  readonly team?: string
}

/** A skill as a test says it. */
export type SkillSketch = {
  readonly name?: string
  readonly versions: readonly VersionSketch[]
  readonly stable: Readonly<Record<string, string>>
  readonly rollouts?: readonly Partial<RolloutRecord>[]
}

/** A version record from a sketch. */
export function versionOf(sketch: VersionSketch, skillId = 'skill'): VersionRecord {
  const semver = parseExact(sketch.version)
  if (semver === undefined) throw new Error(`${sketch.version} is no version`)
  return {
    id: `${skillId}@${sketch.version}`,
    skillId,
    version: semver.version,
    semver,
    line: lineOf(semver),
    status: sketch.status ?? 'released',
    formerStatus: sketch.formerStatus ?? null,
    statusReason: sketch.reason ?? null,
    statusChangedAt: '2026-01-01T00:00:00.000Z',
    replacement: sketch.replacement ?? null,
    sunsetAt: null,
    digest: `sha256:${sketch.version}`,
    schemaDigest: sketch.schema ?? `schema-${sketch.version}`,
    inputSchema: '{"type":"object"}',
    outputSchema: null,
    extra: {},
    defaults: {},
    instructions: '',
    kind: 'code',
    entry: 'skill.js',
    files: [],
    source: 'folder',
    publishedBy: 'author',
    publisherTeam: sketch.team ?? null,
    publishedAt: '2026-01-01T00:00:00.000Z',
    manifest: {
      name: 'skill',
      description: 'x',
      version: sketch.version,
      tags: [],
      permission: sketch.permission ?? [],
      private: sketch.isPrivate ?? false,
      core: false,
      effects: 'read',
      timeout_ms: 1000,
      examples: [],
      errors: [],
      unlocks: [],
      approval: 'none',
    },
  }
}

/** A rollout record from what a test says of it: a running one of 1.3.0 at 10 %. */
export function rolloutOf(sketch: Partial<RolloutRecord>): RolloutRecord {
  return {
    id: 'rollout',
    skillId: 'skill',
    line: '1',
    candidate: '1.3.0',
    previousStable: '1.2.4',
    state: 'running',
    pausedReason: null,
    pausedNote: null,
    basisPoints: 1000,
    agreedBasisPoints: sketch.basisPoints ?? 1000,
    unit: 'agent',
    salt: '01JAB-salt',
    allow: [],
    deny: [],
    steps: [],
    stepIndex: -1,
    stepAt: '2026-01-01T00:00:00.000Z',
    startAt: null,
    startedAt: sketch.state === 'scheduled' ? null : '2026-01-01T00:00:00.000Z',
    reason: 'a test tries it',
    createdBy: 'test',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    endedAt: null,
    ...sketch,
  }
}

/** Changes up to a revision: what is not said did not change. */
export function changesAt(revision: number, rows: Partial<Changes>): Changes {
  const none = {
    skills: [],
    versions: [],
    lines: [],
    rollouts: [],
    agents: [],
    keys: [],
    grants: [],
    requirements: [],
    connections: [],
    quotas: [],
  }
  return { installId: 'test', epoch: 1, revision, ...none, ...rows }
}

/** A catalogue with one skill in it. */
export function snapshotOf({ name = 'skill', versions, stable, rollouts = [] }: SkillSketch): Snapshot {
  return applyChanges(
    emptySnapshot,
    changesAt(1, {
      skills: [{ id: 'skill', name, team: null, position: 1, revision: 1 }],
      versions: versions.map((version) => versionOf(version)),
      lines: Object.entries(stable).map(([line, version]) => ({ skillId: 'skill', line, stable: version })),
      rollouts: rollouts.map((rollout, index) => rolloutOf({ id: `rollout-${index}`, ...rollout })),
    }),
  )
}

/** The skill of such a catalogue. */
export function skillOf(sketch: SkillSketch): SkillRecord {
  const [skill] = snapshotOf(sketch).ordered
  if (skill === undefined) throw new Error('the sketch has no skill')
  return skill
}
