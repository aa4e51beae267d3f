import type { Manifest, VersionStatus } from '@repertoire/contract'
import type { ExecutorKind, PausedReason, RolloutState, RolloutStep, UnitKind } from '@repertoire/core'
import { sql } from 'drizzle-orm'
import { bigint, foreignKey, index, integer, jsonb, pgTable, primaryKey, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { bytea, moment, revisionColumn } from './columns.ts'

/** Skills by name; `name_key` is the form under which `-` and `_` are one letter. */
export const skills = pgTable(
  'skills',
  {
    id: uuid('id').primaryKey(),
    name: text('name').notNull(),
    nameKey: text('name_key').notNull(),
    lookAlikeKey: text('look_alike_key').notNull(),
    team: text('team'),
    position: bigint('position', { mode: 'number' }).generatedAlwaysAsIdentity(),
    firstPublishedAt: moment('first_published_at').notNull(),
    revision: revisionColumn(),
  },
  (table) => [
    uniqueIndex('skills_name_key').on(table.nameKey),
    index('skills_look_alike').on(table.lookAlikeKey),
    index('skills_revision').on(table.revision),
  ],
)

/** Immutable publications. Only the status columns and `source` ever change. */
export const versions = pgTable(
  'versions',
  {
    id: uuid('id').primaryKey(),
    skillId: uuid('skill_id')
      .notNull()
      .references(() => skills.id),
    version: text('version').notNull(),
    major: bigint('major', { mode: 'number' }).notNull(),
    minor: bigint('minor', { mode: 'number' }).notNull(),
    patch: bigint('patch', { mode: 'number' }).notNull(),
    prerelease: text('prerelease'),
    line: text('line').notNull(),
    status: text('status').$type<VersionStatus>().notNull(),
    formerStatus: text('former_status').$type<VersionStatus>(),
    statusReason: text('status_reason'),
    statusChangedAt: moment('status_changed_at').notNull(),
    replacement: text('replacement'),
    sunsetAt: moment('sunset_at'),
    digest: text('digest').notNull(),
    schemaDigest: text('schema_digest').notNull(),
    inputSchema: text('input_schema').notNull(),
    outputSchema: text('output_schema'),
    manifest: jsonb('manifest').$type<Manifest>().notNull(),
    extra: jsonb('extra').$type<Record<string, unknown>>().notNull(),
    defaults: jsonb('defaults').$type<Record<string, unknown>>().notNull(),
    instructions: text('instructions').notNull(),
    kind: text('kind').$type<ExecutorKind>().notNull(),
    entry: text('entry'),
    source: text('source').$type<'folder' | 'api'>().notNull(),
    publishedBy: text('published_by').notNull(),
    publisherTeam: text('publisher_team'),
    publishedAt: moment('published_at').notNull(),
    revision: revisionColumn(),
  },
  (table) => [
    unique('versions_skill_version').on(table.skillId, table.version),
    index('versions_order').on(table.skillId, table.major, table.minor, table.patch),
    index('versions_revision').on(table.revision),
  ],
)

/** File contents, once each, by digest. */
export const blobs = pgTable('blobs', {
  digest: text('digest').primaryKey(),
  bytes: integer('bytes').notNull(),
  content: bytea('content').notNull(),
})

/** The files of a version, SKILL.md included, byte for byte. */
export const versionFiles = pgTable(
  'version_files',
  {
    versionId: uuid('version_id')
      .notNull()
      .references(() => versions.id),
    path: text('path').notNull(),
    digest: text('digest')
      .notNull()
      .references(() => blobs.digest),
    bytes: integer('bytes').notNull(),
  },
  (table) => [primaryKey({ columns: [table.versionId, table.path] })],
)

/** What each line serves. */
export const lines = pgTable(
  'lines',
  {
    skillId: uuid('skill_id')
      .notNull()
      .references(() => skills.id),
    line: text('line').notNull(),
    stable: text('stable'),
    revision: revisionColumn(),
  },
  (table) => [
    primaryKey({ columns: [table.skillId, table.line] }),
    foreignKey({
      columns: [table.skillId, table.stable],
      foreignColumns: [versions.skillId, versions.version],
      name: 'lines_stable_version',
    }),
    index('lines_revision').on(table.revision),
  ],
)

/** Traffic plans; at most one active on a line. */
export const rollouts = pgTable(
  'rollouts',
  {
    id: uuid('id').primaryKey(),
    skillId: uuid('skill_id')
      .notNull()
      .references(() => skills.id),
    line: text('line').notNull(),
    candidate: text('candidate').notNull(),
    previousStable: text('previous_stable'),
    state: text('state').$type<RolloutState>().notNull(),
    pausedReason: text('paused_reason').$type<PausedReason>(),
    pausedNote: text('paused_note'),
    basisPoints: integer('basis_points').notNull(),
    agreedBasisPoints: integer('agreed_basis_points').notNull(),
    unit: text('unit').$type<UnitKind>().notNull(),
    salt: text('salt').notNull(),
    allow: jsonb('allow').$type<string[]>().notNull(),
    deny: jsonb('deny').$type<string[]>().notNull(),
    steps: jsonb('steps').$type<RolloutStep[]>().notNull(),
    stepIndex: integer('step_index').notNull(),
    stepAt: moment('step_at'),
    startAt: moment('start_at'),
    startedAt: moment('started_at'),
    reason: text('reason').notNull(),
    createdBy: text('created_by').notNull(),
    createdAt: moment('created_at').notNull(),
    updatedAt: moment('updated_at').notNull(),
    endedAt: moment('ended_at'),
    revision: revisionColumn(),
  },
  (table) => [
    uniqueIndex('rollouts_one_active')
      .on(table.skillId, table.line)
      .where(sql`state in ('scheduled', 'running', 'paused')`),
    foreignKey({
      columns: [table.skillId, table.candidate],
      foreignColumns: [versions.skillId, versions.version],
      name: 'rollouts_candidate_version',
    }),
    index('rollouts_revision').on(table.revision),
  ],
)
