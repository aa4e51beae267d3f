import { and, asc, desc, eq, gt, gte, lt } from 'drizzle-orm'
import type { AuditPage, AuditQuery, AuditVerdict } from '../stored.ts'
import { linkOf, secretRenewed } from './audit-chain.ts'
import type { Drizzle } from './connect.ts'
import type { KeptAudit } from './kept-head.ts'
import { auditEvents } from './tables/installation.ts'

/** A page of the audit log, newest first. */
export async function listAudit(db: Drizzle, query: AuditQuery): Promise<AuditPage[]> {
  return db
    .select()
    .from(auditEvents)
    .where(
      and(
        gte(auditEvents.at, query.from),
        lt(auditEvents.at, query.to),
        query.caller === undefined ? undefined : eq(auditEvents.caller, query.caller),
        query.action === undefined ? undefined : eq(auditEvents.action, query.action),
        query.subject === undefined ? undefined : eq(auditEvents.subject, query.subject),
        query.skill === undefined ? undefined : eq(auditEvents.skill, query.skill),
        query.before === undefined ? undefined : lt(auditEvents.seq, query.before),
      ),
    )
    .orderBy(desc(auditEvents.seq))
    .limit(query.limit)
}

const pageRows = 2000

/** How a page is asked for: each by itself, so that a long log holds no connection. */
type Ask = <T>(work: (db: Drizzle) => Promise<T>) => Promise<T>

/**
 * Follows the chain from its first event to its last, and names the first event at which it breaks, or the tail that is gone.
 * What was written under an earlier install secret is only followed: its links cannot be computed any more.
 */
export async function verifyAudit(ask: Ask, secret: Uint8Array, kept: KeptAudit | 'unreadable' | undefined): Promise<AuditVerdict> {
  if (kept === 'unreadable')
    return broken({ seq: 0, rows: 0, problem: 'what this replica kept of its end, in audit-head, is not as it was written' })
  if (kept !== undefined && kept.broken !== null) return broken({ ...kept.broken, rows: 0 })
  const head = kept?.head
  const verifiableFrom = await lastRenewal(ask, secret)
  let previous: string | null = null
  let rows = 0
  let unverifiable = 0
  let lastSeq = 0
  let hasBegun = false
  let seenHead = head === undefined
  for (let page = await pageAfter(ask, 0); page.length > 0; page = await pageAfter(ask, lastSeq)) {
    for (const { seq, hash, previousHash, ...event } of page) {
      rows += 1
      lastSeq = seq
      // Events from before there was a chain; once it has begun, none is without.
      if (hash === null && !hasBegun && seq < (kept?.since ?? Number.POSITIVE_INFINITY)) {
        unverifiable += 1
        continue
      }
      hasBegun = true
      if (hash === null) return broken({ seq, rows, problem: 'it is not part of the chain' })
      if (previousHash !== previous) return broken({ seq, rows, problem: 'an event before it was removed, changed or moved' })
      if (seq < verifiableFrom) unverifiable += 1
      else if (linkOf(secret, previousHash, event) !== hash) return broken({ seq, rows, problem: 'it was changed' })
      if (seq === head?.seq && hash !== head.hash) return broken({ seq, rows, problem: 'it is not the event that was appended' })
      seenHead ||= seq === head?.seq
      previous = hash
    }
  }
  if (!seenHead)
    return broken({
      seq: head?.seq ?? 0,
      rows,
      problem: `the tail is cut: this replica knows of event ${head?.seq ?? 0}, and the last one there is ${lastSeq}`,
    })
  return { ok: true, rows, unverifiable, last_seq: lastSeq, tail_checked: head !== undefined, first_bad: null }
}

function pageAfter(ask: Ask, seq: number): Promise<AuditPage[]> {
  return ask((db) => db.select().from(auditEvents).where(gt(auditEvents.seq, seq)).orderBy(asc(auditEvents.seq)).limit(pageRows))
}

// Only who has the secret can write the event that says it was renewed; a forged one does not count.
async function lastRenewal(ask: Ask, secret: Uint8Array): Promise<number> {
  const renewals = await ask((db) =>
    db.select().from(auditEvents).where(eq(auditEvents.action, secretRenewed)).orderBy(desc(auditEvents.seq)).limit(100),
  )
  const found = renewals.find(({ seq: _seq, hash, previousHash, ...event }) => linkOf(secret, previousHash, event) === hash)
  return found?.seq ?? 0
}

function broken({ seq, rows, problem }: { readonly seq: number; readonly rows: number; readonly problem: string }): AuditVerdict {
  return { ok: false, rows, unverifiable: 0, last_seq: seq, tail_checked: true, first_bad: { seq, problem } }
}
