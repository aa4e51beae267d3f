import type postgres from 'postgres'
import type { CallQuery } from '../../stored.ts'

/** Conditions on rows: those an index answers, in the order of its keys, and the rest, which has to be looked at row by row. */
export type Conditions = {
  readonly indexed: postgres.Fragment
  readonly isIndexed: boolean
  readonly rest: postgres.Fragment
  readonly hasRest: boolean
}

type Equal = readonly [column: string, value: string | undefined]

/** The keys of a window, behind the page before. */
export function windowOf(sql: postgres.Sql, { from, to, beyond, isOldestFirst }: CallQuery): postgres.Fragment {
  const behind =
    beyond === undefined ? sql`` : isOldestFirst === true ? sql`and c.call_id > ${beyond}::uuid` : sql`and c.call_id < ${beyond}::uuid`
  return sql`c.call_id >= repertoire_first_id(${from}) and c.call_id < repertoire_first_id(${to}) ${behind}`
}

/** The order of a query's rows. */
export function orderOf(sql: postgres.Sql, { isOldestFirst }: CallQuery): postgres.Fragment {
  return isOldestFirst === true ? sql`order by c.call_id` : sql`order by c.call_id desc`
}

/** The conditions of a query. Of several that have an index the one that leaves the fewest rows leads. */
export function conditionsOf(sql: postgres.Sql, query: CallQuery): Conditions {
  const ordered: readonly Equal[] = [
    ['trace_id', query.trace],
    ['session', query.session],
    ['rollout_id', query.rollout],
    ['error_code', query.error_code],
    ['agent_id', query.agent],
    ['skill', query.skill],
  ]
  const given = ordered.filter(([, value]) => value !== undefined)
  const others: readonly Equal[] = [
    ['version', query.version],
    ['outcome', query.outcome],
    ['via', query.via],
    ['on_behalf_of', query.onBehalfOf],
  ]
  const equal = (conditions: readonly Equal[]): postgres.Fragment =>
    conditions.reduce((all, [column, value]) => (value === undefined ? all : sql`${all} and c.${sql(column)} = ${value}`), sql``)
  const rest = [...given.slice(1), ...others.filter(([, value]) => value !== undefined)]
  return {
    indexed: equal(given.slice(0, 1)),
    isIndexed: given.length > 0,
    rest: sql`${equal(rest)} ${query.min_duration_ms === undefined ? sql`` : sql`and c.total_ms >= ${query.min_duration_ms}`}
      ${query.dry_run === undefined ? sql`` : sql`and c.dry_run = ${query.dry_run === 'true'}`}`,
    hasRest: rest.length > 0 || query.min_duration_ms !== undefined || query.dry_run !== undefined,
  }
}
