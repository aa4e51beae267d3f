import type { Agent, PageQuery } from '@repertoire/contract'
import { readCursor, requireRole, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showAgent } from './create-agent.ts'

/** The registered agents, by id. */
export async function listAgents(
  deps: Deps,
  caller: Caller,
  { cursor, limit }: PageQuery,
): Promise<{ readonly items: Agent[]; readonly next_cursor: string | null }> {
  requireRole(caller, 'admin')
  const rows = await deps.store.listAgents({ after: readCursor(cursor, /^[a-z0-9._-]+$/), limit: limit + 1 })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { items: page.map(showAgent), next_cursor: rows.length > limit && last !== undefined ? writeCursor(last.id) : null }
}
