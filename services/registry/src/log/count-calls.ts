import type postgres from 'postgres'
import type { CallRow } from '@repertoire/contract'
import type { CallCount } from '../stored.ts'
import { getCall } from './find-calls.ts'

const mostRows = 10_000

/** How often each agent called a skill since a time, by range and version; dry runs and calls that found no version count as asked. */
export async function countCalls(sql: postgres.Sql, skill: string, since: Date): Promise<CallCount[]> {
  const rows = await sql<{ agent_id: string; range: string | null; version: string | null; calls: number; last_at: Date }[]>`
    select agent_id, requested_range as range, version, count(*)::float8 as calls, max(ts) as last_at from calls
    where skill = ${skill} and call_id >= repertoire_first_id(${since}) and not dry_run
    group by 1, 2, 3 order by calls desc limit ${mostRows}`
  return rows.map(({ agent_id, range, version, calls, last_at }) => ({ agentId: agent_id, range, version, calls, lastAt: last_at }))
}

const lookBackDays = 90

/** The last call an agent made of a skill, not after a time. */
export async function lastCall(
  sql: postgres.Sql,
  { skill, agentId, at }: { readonly skill: string; readonly agentId: string; readonly at: Date },
): Promise<CallRow | undefined> {
  const from = new Date(at.getTime() - lookBackDays * 86_400_000)
  const upTo = new Date(at.getTime() + 1)
  const [row] = await sql<{ call_id: string }[]>`
    select call_id from calls
    where skill = ${skill} and agent_id = ${agentId} and call_id >= repertoire_first_id(${from}) and call_id < repertoire_first_id(${upTo})
    order by call_id desc limit 1`
  return row === undefined ? undefined : getCall(sql, row.call_id)
}
