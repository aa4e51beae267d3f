import type postgres from 'postgres'
import type { CountedPlace, Counts } from '../../counted.ts'

/** Where schemas were missed, the most frequent places first; whole days. */
export async function countPlaces(
  sql: postgres.Sql,
  { window, limit, skill, version }: Parameters<Counts['places']>[0],
): Promise<readonly CountedPlace[]> {
  return sql<CountedPlace[]>`
    select skill, version, outcome, path, rule, sum(calls)::float8 as calls from violation_days
    where bucket >= ${window.from} and bucket < ${window.to}
      ${skill === undefined ? sql`` : sql`and skill = ${skill}`} ${version === undefined ? sql`` : sql`and version = ${version}`}
    group by skill, version, outcome, path, rule having sum(calls) > 0 order by sum(calls) desc, skill, version, path, rule limit ${limit}`
}
