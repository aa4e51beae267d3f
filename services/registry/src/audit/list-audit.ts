import type { AuditList, ListAuditQuery } from '@repertoire/contract'
import { readCursor, Refusal, requireRole, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

const weekMs = 7 * 86_400_000

/** A page of the audit log, newest first: the last week unless a window is given. */
export async function listAudit(deps: Deps, caller: Caller, query: ListAuditQuery): Promise<AuditList> {
  requireRole(caller, 'auditor')
  const to = query.to === undefined ? new Date(deps.clock.now().getTime() + 1000) : new Date(query.to)
  const from = query.from === undefined ? new Date(to.getTime() - weekMs) : new Date(query.from)
  if (from >= to)
    throw new Refusal('INVALID_REQUEST', 'from has to lie before to.', {
      hint: 'give from and to as RFC 3339 times',
      details: [{ path: '/from', rule: 'window' }],
    })
  const { cursor, limit, caller: by, action, subject, skill } = query
  const before = readCursor(cursor, /^\d{1,15}$/)
  const rows = await deps.store.listAudit({
    from,
    to,
    action,
    subject,
    skill,
    caller: by,
    before: before === undefined ? undefined : Number(before),
    limit: limit + 1,
  })
  const items = rows.slice(0, limit).map((row) => ({
    seq: row.seq,
    at: row.at.toISOString(),
    caller: row.caller,
    role: row.role,
    key_id: row.keyId,
    action: row.action,
    subject: row.subject,
    skill: row.skill,
    reason: row.reason,
    before: row.before,
    after: row.after,
    revision: row.revision,
    hash: row.hash,
  }))
  const last = items.at(-1)
  return { items, next_cursor: rows.length > limit && last !== undefined ? writeCursor(String(last.seq)) : null }
}
