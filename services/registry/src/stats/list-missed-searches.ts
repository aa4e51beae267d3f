import type { SearchStats, ShownStatsQuery } from '@repertoire/contract'
import { readWindow, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showList } from './list-counted.ts'

/** Searches that found nothing, the most frequent first. */
export async function listMissedSearches(deps: Deps, caller: Caller, query: ShownStatsQuery): Promise<SearchStats> {
  requireRole(caller, 'auditor')
  const window = readWindow(query, deps.clock.now().getTime())
  const missed = await deps.counts.missedSearches({ window, limit: query.limit + 1 })
  const items = missed.map(({ lastAt, ...counts }) => ({ ...counts, last_at: lastAt.toISOString() }))
  return showList({ source: 'rows', window }, items, query.limit)
}
