import type { FeedbackStats, StatsListQuery } from '@repertoire/contract'
import { readWindow, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { showList } from './list-counted.ts'
import { narrow } from './narrow.ts'

/** What was said of the calls of each version, as far as their reader may count them. */
export async function listFeedback(deps: Deps, caller: Caller, query: StatsListQuery): Promise<FeedbackStats> {
  const window = readWindow(query, deps.clock.now().getTime())
  const own = narrow(deps, caller, { skill: query.skill, agent: query.agent, tellsAgents: false })
  const items = await deps.counts.feedback({ window, ...own, version: query.version, limit: query.limit + 1 })
  return showList({ source: 'rows', window }, items, query.limit)
}
