import type { ShownStatsQuery, UnusedStats } from '@repertoire/contract'
import { readWindow, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showList } from './list-counted.ts'
import { wholeDays } from './whole-days.ts'

/** Skills that were shown to agents and that nobody called, those that were shown most first. */
export async function listUnusedSkills(deps: Deps, caller: Caller, query: ShownStatsQuery): Promise<UnusedStats> {
  requireRole(caller, 'auditor')
  const window = wholeDays(readWindow(query, deps.clock.now().getTime()))
  const unused = await deps.counts.unused({ window, limit: query.limit + 1 })
  const items = unused.map(({ lastShownAt, ...counts }) => ({ ...counts, last_shown_at: lastShownAt.toISOString() }))
  return showList({ source: 'call_days', window }, items, query.limit)
}
