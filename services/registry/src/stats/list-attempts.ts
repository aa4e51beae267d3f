import { limits, type AttemptStats, type StatsListQuery } from '@repertoire/contract'
import type { Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { countFor, showList } from './list-counted.ts'

/** How often calls of each version were tried again, and how often that helped; the versions that needed it most first. */
export async function listAttempts(deps: Deps, caller: Caller, query: StatsListQuery): Promise<AttemptStats> {
  const counted = await countFor(deps, caller, { query, of: { groupBy: ['skill', 'version'], most: limits.statsItems } })
  const items = counted.cells
    .map(({ names, calls, attempts, retried, recovered }) => ({
      skill: names.skill ?? '',
      version: names.version === '' ? null : (names.version ?? null),
      calls,
      attempts,
      retried,
      recovered,
    }))
    .sort((a, b) => b.retried - a.retried || b.calls - a.calls)
  return showList(counted, items, query.limit)
}
