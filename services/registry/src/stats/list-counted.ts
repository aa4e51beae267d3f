import type { StatsDimension, StatsListQuery } from '@repertoire/contract'
import { nameOfSource, planCounts, readWindow, type Caller, type CountSource, type Window } from '@repertoire/core'
import type { CountedCell } from '../counted.ts'
import type { Deps } from '../ports.ts'
import { narrow } from './narrow.ts'

/** What a list tells apart, and which calls it is of. */
export type ListOf = {
  readonly groupBy: readonly StatsDimension[]
  readonly filters?: Readonly<Partial<Record<StatsDimension, string>>>
  readonly errorsOnly?: boolean
  /** How many cells are read where another order than that of calls is wanted. */
  readonly most?: number
}

/** What was counted for a list, and of which window. */
export type Counted = { readonly source: CountSource; readonly window: Window; readonly cells: readonly CountedCell[] }

/** Counts calls for a list, as far as its caller may read them. */
export async function countFor(
  deps: Deps,
  caller: Caller,
  asked: { readonly query: StatsListQuery; readonly of: ListOf },
): Promise<Counted> {
  const { query, of } = asked
  const window = readWindow(query, deps.clock.now().getTime())
  const own = narrow(deps, caller, { skill: query.skill, agent: query.agent, tellsAgents: of.groupBy.includes('agent') })
  const given = { ...own, version: query.version, ...of.filters }
  const filters = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<
    Record<StatsDimension, string>
  >
  const plan = planCounts({ window, interval: 'none', groupBy: of.groupBy, filters })
  const cells = await deps.counts.calls({
    ...plan,
    interval: 'none',
    groupBy: of.groupBy,
    filters,
    errorsOnly: of.errorsOnly ?? false,
    countsOnly: true,
    limit: of.most ?? query.limit + 1,
  })
  return { ...plan, cells }
}

/** A list as it is answered: as many items as were asked for, and whether there are more. */
export function showList<T>({ source, window }: Omit<Counted, 'cells'>, items: readonly T[], limit: number): ListShown<T> {
  return {
    from: window.from.toISOString(),
    to: window.to.toISOString(),
    source: nameOfSource(source),
    items: items.slice(0, limit),
    cut: items.length > limit,
  }
}

/** A list of what was counted. */
export type ListShown<T> = {
  readonly from: string
  readonly to: string
  readonly source: 'rows' | 'hours' | 'days'
  readonly items: T[]
  readonly cut: boolean
}
