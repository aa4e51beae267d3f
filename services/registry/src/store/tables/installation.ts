import type { Plan } from '@repertoire/core'
import { sql } from 'drizzle-orm'
import { bigint, check, index, integer, jsonb, pgTable, smallint, text, uuid } from 'drizzle-orm/pg-core'
import { moment } from './columns.ts'

/** The one row that says which installation this is and which revision it has reached. */
export const installation = pgTable(
  'installation',
  {
    one: smallint('one').primaryKey().default(1),
    installId: uuid('install_id').notNull(),
    epoch: integer('epoch').notNull(),
    revision: bigint('revision', { mode: 'number' }).notNull(),
    /** What proves that a replica has the install secret, without giving it away. */
    secretCheck: text('secret_check'),
    createdAt: moment('created_at').notNull(),
  },
  (table) => [check('installation_one_row', sql`${table.one} = 1`)],
)

/** Who changed what, and why; rows are never changed or removed. */
export const auditEvents = pgTable(
  'audit_events',
  {
    seq: bigint('seq', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: moment('at').notNull(),
    caller: text('caller').notNull(),
    role: text('role').notNull(),
    keyId: text('key_id'),
    action: text('action').notNull(),
    subject: text('subject').notNull(),
    /** The skill an event is about, and what changed of it, so that its state at any time can be told. */
    skill: text('skill'),
    change: jsonb('change').$type<Plan>(),
    reason: text('reason'),
    before: jsonb('before'),
    after: jsonb('after'),
    revision: bigint('revision', { mode: 'number' }).notNull(),
    previousHash: text('previous_hash'),
    hash: text('hash'),
  },
  (table) => [index('audit_events_subject').on(table.subject, table.seq), index('audit_events_skill').on(table.skill, table.seq)],
)

/** The replicas there are, and the revision each has applied; one that was not heard of for long has left. */
export const replicas = pgTable('replicas', {
  /** One process; two may have been given the same name. */
  instance: uuid('instance').primaryKey(),
  name: text('name').notNull(),
  startedAt: moment('started_at').notNull(),
  lastSeenAt: moment('last_seen_at').notNull(),
  appliedRevision: bigint('applied_revision', { mode: 'number' }).notNull(),
  /** For how long rows of its calls have been waiting for Postgres. */
  logLagMs: bigint('log_lag_ms', { mode: 'number' }).notNull().default(0),
  leftAt: moment('left_at'),
})
