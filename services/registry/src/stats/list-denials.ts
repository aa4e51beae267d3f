import type { DenialStats, StatsListQuery } from '@repertoire/contract'
import type { Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { countFor, showList } from './list-counted.ts'

/** Who was denied what, the most frequent first; an agent sees what it was denied itself. */
export async function listDenials(deps: Deps, caller: Caller, query: StatsListQuery): Promise<DenialStats> {
  const counted = await countFor(deps, caller, { query, of: { groupBy: ['agent', 'skill'], filters: { outcome: 'denied' } } })
  const items = counted.cells.map(({ names, calls }) => ({ agent: names.agent ?? '', skill: names.skill ?? '', calls }))
  return showList(counted, items, query.limit)
}
