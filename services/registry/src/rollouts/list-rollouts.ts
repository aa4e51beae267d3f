import type { ListRolloutsQuery, Rollout } from '@repertoire/contract'
import { nameKey, readCursor, requireRole, writeCursor, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showRollout } from './show-rollout.ts'

/** A page of rollouts. */
export type RolloutPage = { readonly items: Rollout[]; readonly next_cursor: string | null }

/** A page, and the revision in which it was read; undefined when it is empty. */
export type ReadPage = { readonly page: RolloutPage; readonly revision: number | undefined }

/** Rollouts, newest first; `active` means those that have not ended. */
export async function listRollouts(deps: Deps, caller: Caller, query: ListRolloutsQuery): Promise<ReadPage> {
  requireRole(caller, 'operator')
  const rows = await deps.store.listRollouts({
    skill: query.skill === undefined ? undefined : nameKey(query.skill),
    states: query.state === 'active' ? ['scheduled', 'running', 'paused'] : query.state === undefined ? undefined : [query.state],
    before: readCursor(query.cursor, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    limit: query.limit + 1,
  })
  const items = rows.slice(0, query.limit)
  const last = items.at(-1)
  const page = {
    items: items.map(({ rollout, skill }) => showRollout(skill, rollout)),
    next_cursor: rows.length > query.limit && last !== undefined ? writeCursor(last.rollout.id) : null,
  }
  return { page, revision: rows[0]?.revision }
}
