import type { GrantRecord } from '@repertoire/core'
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lte, or } from 'drizzle-orm'
import type { AuditRow, RequirementDeclared } from '../stored.ts'
import { auditRow } from './audit.ts'
import type { Drizzle } from './connect.ts'
import { grants, requirements } from './tables/access.ts'
import { auditEvents } from './tables/installation.ts'

/** The events about a skill up to a time, oldest first: what they say changed adds up to the skill as it was. */
export async function eventsOf(db: Drizzle, skill: string, upTo: Date): Promise<AuditRow[]> {
  return db
    .select(auditRow)
    .from(auditEvents)
    .where(and(eq(auditEvents.skill, skill), lte(auditEvents.at, upTo)))
    .orderBy(asc(auditEvents.seq))
}

/** What an agent held at a time: granted by then, and not yet taken back. */
export async function grantsAt(db: Drizzle, agentId: string, at: Date): Promise<GrantRecord[]> {
  const rows = await db
    .select()
    .from(grants)
    .where(and(eq(grants.agentId, agentId), lte(grants.createdAt, at), or(isNull(grants.removedAt), gt(grants.removedAt, at))))
  return rows.map((row) => ({
    id: row.id,
    agentId: row.agentId,
    pattern: row.pattern,
    deny: row.deny,
    expiresAt: row.expiresAt?.getTime() ?? null,
  }))
}

/** The ranges each instance of an agent had declared at a time, from the last event of each by then. */
export async function declaredAt(db: Drizzle, agentId: string, at: Date): Promise<Map<string, Record<string, string>>> {
  const prefix = `${agentId}/`
  // Every instance that ever declared has rows still, so that its events are found by their subject.
  const instances = await db.selectDistinct({ instance: requirements.instance }).from(requirements).where(eq(requirements.agentId, agentId))
  if (instances.length === 0) return new Map()
  const subjects = instances.map(({ instance }) => `${prefix}${instance}`)
  const rows = await db
    .selectDistinctOn([auditEvents.subject], { subject: auditEvents.subject, after: auditEvents.after })
    .from(auditEvents)
    .where(and(eq(auditEvents.action, 'requirements.declare'), inArray(auditEvents.subject, subjects), lte(auditEvents.at, at)))
    .orderBy(auditEvents.subject, desc(auditEvents.seq))
  return new Map(rows.map((row) => [row.subject.slice(prefix.length), (row.after ?? {}) as Record<string, string>]))
}

/** The ranges that are declared for a skill and were declared after a time. */
export async function requirementsOf(db: Drizzle, skillKey: string, since: Date): Promise<RequirementDeclared[]> {
  const rows = await db
    .select({
      agentId: requirements.agentId,
      instance: requirements.instance,
      range: requirements.range,
      declaredAt: requirements.declaredAt,
    })
    .from(requirements)
    .where(and(eq(requirements.skillKey, skillKey), isNotNull(requirements.range), gte(requirements.declaredAt, since)))
  return rows.flatMap(({ range, ...row }) => (range === null ? [] : [{ ...row, range }]))
}
