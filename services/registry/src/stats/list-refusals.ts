import type { RefusalStats, RefusalStatsQuery } from '@repertoire/contract'
import { readWindow, type Caller, type Window } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { narrow } from './narrow.ts'

const minuteMs = 60_000

/** Who was turned away, why and when; an agent sees how often it was itself. */
export async function listRefusals(deps: Deps, caller: Caller, query: RefusalStatsQuery): Promise<RefusalStats> {
  const { group_by: groupBy, interval, limit, code } = query
  const { agent } = narrow(deps, caller, { skill: undefined, agent: query.agent, tellsAgents: true })
  const window = wholeMinutes(readWindow(query, deps.clock.now().getTime()))
  const cells = await deps.refusals.count({
    window,
    interval,
    groupBy,
    code,
    agent,
    limit: limit + 1,
  })
  return {
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    items: cells.slice(0, limit).map(({ at, agent: whose, ...counted }) => ({
      ...(at === undefined ? {} : { at: at.toISOString() }),
      ...(whose === undefined ? {} : { agent: whose === '' ? null : whose }),
      ...counted,
    })),
    cut: cells.length > limit,
  }
}

// They are counted by the minute: of a part of one nobody knows more than the whole.
function wholeMinutes({ from, to }: Window): Window {
  return { from: new Date(Math.floor(from.getTime() / minuteMs) * minuteMs), to: new Date(Math.ceil(to.getTime() / minuteMs) * minuteMs) }
}
