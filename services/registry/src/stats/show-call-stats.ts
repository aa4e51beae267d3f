import type { CallStats, CallStatsItem, CallStatsQuery, StatsDimension } from '@repertoire/contract'
import { nameOfSource, percentile, planCounts, readWindow, type Caller } from '@repertoire/core'
import type { CountedCell } from '../counted.ts'
import type { Deps } from '../ports.ts'
import { narrow } from './narrow.ts'

/** Calls counted by what was asked for, with rates and percentiles: of all agents for those who see everything, else the caller's own, or those of a skill its team owns. */
export async function showCallStats(deps: Deps, caller: Caller, query: CallStatsQuery): Promise<CallStats> {
  const { interval, limit, group_by: groupBy, arm, outcome, error_code: errorCode } = query
  const window = readWindow(query, deps.clock.now().getTime())
  const own = narrow(deps, caller, { skill: query.skill, agent: query.agent, tellsAgents: groupBy.includes('agent') })
  const filters = present({ ...own, version: query.version, arm, outcome, error_code: errorCode })
  const plan = planCounts({ window, interval, groupBy, filters })
  const cells = await deps.counts.calls({ ...plan, interval, groupBy, filters, limit: limit + 1 })
  return {
    from: plan.window.from.toISOString(),
    to: plan.window.to.toISOString(),
    source: nameOfSource(plan.source),
    items: cells.slice(0, limit).map((cell) => showCell(cell, groupBy)),
    cut: cells.length > limit,
  }
}

function present(filters: Partial<Record<StatsDimension, string | undefined>>): Partial<Record<StatsDimension, string>> {
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Partial<Record<StatsDimension, string>>
}

function showCell(cell: CountedCell, groupBy: readonly StatsDimension[]): CallStatsItem {
  const errors = cell.calls - cell.ok
  const judged = cell.ok + cell.failures
  const nameOf = (name: StatsDimension): string | null => (cell.names[name] === '' ? null : (cell.names[name] ?? null))
  return {
    ...(cell.at === undefined ? {} : { at: cell.at.toISOString() }),
    ...Object.fromEntries(groupBy.map((name) => [name, nameOf(name)])),
    calls: cell.calls,
    errors,
    error_rate: errors / cell.calls,
    failures: cell.failures,
    failure_rate: judged === 0 ? null : cell.failures / judged,
    mean_ms: cell.totalMs / cell.calls,
    p50_ms: percentile(cell.histogram, 0.5),
    p95_ms: percentile(cell.histogram, 0.95),
    p99_ms: percentile(cell.histogram, 0.99),
    mean_output_bytes: cell.outputBytes / cell.calls,
  }
}
