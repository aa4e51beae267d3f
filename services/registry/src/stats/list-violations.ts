import type { StatsListQuery, ViolationStats } from '@repertoire/contract'
import { nameInRows, nameKey, readWindow, requireReading, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showList } from './list-counted.ts'
import { wholeDays } from './whole-days.ts'

/** Which places of arguments and answers miss their schemas, by version: of all skills, or of one that the caller's team owns. */
export async function listViolations(deps: Deps, caller: Caller, query: Omit<StatsListQuery, 'agent'>): Promise<ViolationStats> {
  const snapshot = deps.snapshot()
  const nowMs = deps.clock.now().getTime()
  requireReading(caller, query.skill === undefined ? undefined : snapshot.skills.get(nameKey(query.skill)))
  const window = wholeDays(readWindow(query, nowMs))
  const skill = query.skill === undefined ? undefined : nameInRows(snapshot, query.skill, { caller, nowMs })
  const places = await deps.counts.places({ window, skill, version: query.version, limit: query.limit + 1 })
  const items = places.map(({ version, outcome, ...place }) => ({
    ...place,
    version: version === '' ? null : version,
    side: outcome === 'output_mismatch' ? ('output' as const) : ('input' as const),
  }))
  return showList({ source: 'call_days', window }, items, query.limit)
}
