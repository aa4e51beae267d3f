import type { Role } from '@repertoire/contract'
import type { CredentialRef } from '@repertoire/core'
import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { moment, revisionColumn } from './columns.ts'

/** Registered clients. */
export const agents = pgTable(
  'agents',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    role: text('role').$type<Role>().notNull(),
    team: text('team'),
    tenant: text('tenant'),
    domains: jsonb('domains').$type<string[]>().notNull(),
    disabled: boolean('disabled').notNull(),
    createdAt: moment('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    revision: revisionColumn(),
  },
  (table) => [index('agents_revision').on(table.revision)],
)

/** Keys, by the SHA-256 of their text; the text itself is nowhere. */
export const keys = pgTable(
  'agent_keys',
  {
    id: uuid('id').primaryKey(),
    agentId: text('agent_id')
      .notNull()
      .references(() => agents.id),
    kind: text('kind').notNull(),
    hash: text('hash').notNull(),
    tail: text('tail').notNull(),
    createdAt: moment('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    expiresAt: moment('expires_at'),
    lastUsedAt: moment('last_used_at'),
    rotatedTo: uuid('rotated_to'),
    revokedAt: moment('revoked_at'),
    revision: revisionColumn(),
  },
  (table) => [
    uniqueIndex('agent_keys_hash').on(table.hash),
    index('agent_keys_agent').on(table.agentId),
    index('agent_keys_revision').on(table.revision),
  ],
)

/** What agents hold, and what they are denied; a removed one stays as a tombstone. */
export const grants = pgTable(
  'grants',
  {
    id: uuid('id').primaryKey(),
    agentId: text('agent_id')
      .notNull()
      .references(() => agents.id),
    pattern: text('pattern').notNull(),
    deny: boolean('deny').notNull(),
    reason: text('reason').notNull(),
    grantedBy: text('granted_by').notNull(),
    createdAt: moment('created_at').notNull(),
    expiresAt: moment('expires_at'),
    removedAt: moment('removed_at'),
    revision: revisionColumn(),
  },
  (table) => [index('grants_agent').on(table.agentId), index('grants_revision').on(table.revision)],
)

/** The ranges each instance of an agent declared; a removed one stays as a tombstone. */
export const requirements = pgTable(
  'requirements',
  {
    agentId: text('agent_id')
      .notNull()
      .references(() => agents.id),
    instance: text('instance').notNull(),
    skillKey: text('skill_key').notNull(),
    skill: text('skill').notNull(),
    range: text('range'),
    declaredAt: moment('declared_at').notNull(),
    revision: revisionColumn(),
  },
  (table) => [
    primaryKey({ columns: [table.agentId, table.instance, table.skillKey] }),
    index('requirements_skill').on(table.skillKey),
    index('requirements_revision').on(table.revision),
  ],
)

/** Named base URLs; credentials are references to files or environment variables. */
export const connections = pgTable(
  'connections',
  {
    name: text('name').primaryKey(),
    baseUrl: text('base_url').notNull(),
    headers: jsonb('headers').$type<Record<string, CredentialRef>>().notNull(),
    createdAt: moment('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    removedAt: moment('removed_at'),
    revision: revisionColumn(),
  },
  (table) => [index('connections_revision').on(table.revision)],
)

/** Limits on calls, one for each agent, skill, agent and skill, or connection; a removed one stays as a tombstone. */
export const quotas = pgTable(
  'quotas',
  {
    id: uuid('id').primaryKey(),
    agentId: text('agent_id').references(() => agents.id),
    skillKey: text('skill_key'),
    connection: text('connection'),
    perMinute: integer('per_minute'),
    perDay: integer('per_day'),
    reason: text('reason').notNull(),
    createdAt: moment('created_at').notNull(),
    createdBy: text('created_by').notNull(),
    removedAt: moment('removed_at'),
    revision: revisionColumn(),
  },
  (table) => [
    uniqueIndex('quotas_target')
      .on(sql`coalesce(${table.agentId}, '')`, sql`coalesce(${table.skillKey}, '')`, sql`coalesce(${table.connection}, '')`)
      .where(sql`${table.removedAt} is null`),
    index('quotas_revision').on(table.revision),
    check('quotas_limit', sql`${table.perMinute} is not null or ${table.perDay} is not null`),
  ],
)
