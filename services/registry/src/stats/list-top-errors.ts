import type { ErrorStats, StatsListQuery } from '@repertoire/contract'
import type { Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { countFor, showList } from './list-counted.ts'

/** The most frequent error codes, by skill: of everything the caller may read. */
export async function listTopErrors(deps: Deps, caller: Caller, query: StatsListQuery): Promise<ErrorStats> {
  const counted = await countFor(deps, caller, { query, of: { groupBy: ['error_code', 'outcome', 'skill'], errorsOnly: true } })
  const items = counted.cells.map(({ names, calls }) => ({
    error_code: names.error_code ?? '',
    outcome: names.outcome ?? '',
    skill: names.skill ?? '',
    calls,
  }))
  return showList(counted, items, query.limit)
}
