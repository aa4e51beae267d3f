import type { PageQuery, Quota } from '@repertoire/contract'
import { readCursor, requireRole, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showQuota } from './create-quota.ts'

/** The limits on calls, oldest first. */
export async function listQuotas(
  deps: Deps,
  caller: Caller,
  { cursor, limit }: PageQuery,
): Promise<{ readonly items: Quota[]; readonly next_cursor: string | null }> {
  requireRole(caller, 'admin')
  const rows = await deps.store.listQuotas({ after: readCursor(cursor, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/), limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  const snapshot = deps.snapshot()
  return {
    items: page.map((row) => showQuota(snapshot, row)),
    next_cursor: rows.length > limit && last !== undefined ? writeCursor(last.id) : null,
  }
}
