import type postgres from 'postgres'
import type { CountedRefusals, RefusalsQuestion } from '../../counted.ts'

/** What one process has counted in one minute, in epoch milliseconds: of an agent (empty where nobody knows) and a code. */
export type RefusalCounter = { readonly minute: number; readonly agentId: string; readonly code: string; refusals: number }

/** Writes what a process has counted, in place of what it said before; what it said before may arrive later. */
export async function writeRefusals(sql: postgres.Sql, instance: string, counters: readonly RefusalCounter[]): Promise<void> {
  await sql.unsafe(
    `insert into refusal_minutes (minute, agent_id, code, instance, refusals)
     select to_timestamp(minute / 1000), agent, code, $5::uuid, refusals
     from unnest($1::float8[], $2::text[], $3::text[], $4::bigint[]) as counted (minute, agent, code, refusals)
     on conflict (minute, agent_id, code, instance) do update set refusals = greatest(refusal_minutes.refusals, excluded.refusals)`,
    [
      counters.map(({ minute }) => minute),
      counters.map(({ agentId }) => agentId),
      counters.map(({ code }) => code),
      counters.map(({ refusals }) => refusals),
      instance,
    ] as never[],
    { prepare: true },
  )
}

const columns = { agent: 'agent_id', code: 'code' } as const

/** Adds up what all processes have counted, the most first, or in the order of time. */
export async function countRefusals(sql: postgres.Sql, question: RefusalsQuestion): Promise<readonly CountedRefusals[]> {
  const { window, interval, groupBy, agent, code, limit } = question
  const shown = groupBy.map((name) => `${columns[name]} as ${name}`)
  const bucket = interval === 'none' ? [] : [`date_bin('1 ${interval}', minute, 'epoch') as at`]
  const groups = [...bucket, ...shown].map((_, index) => String(index + 1))
  const rows = await sql.unsafe<{ at?: Date; agent?: string; code?: string; refusals: number }[]>(
    `select ${[...bucket, ...shown, 'sum(refusals)::float8 as refusals'].join(', ')} from refusal_minutes
     where minute >= $1 and minute < $2 and ($3::text is null or agent_id = $3) and ($4::text is null or code = $4)
     ${groups.length === 0 ? 'having count(*) > 0' : `group by ${groups.join(', ')}`}
     order by ${bucket.length > 0 ? '1, ' : ''}refusals desc${shown.map((_, index) => `, ${bucket.length + index + 1}`).join('')} limit $5`,
    [window.from, window.to, agent ?? null, code ?? null, limit] as never[],
    { prepare: true },
  )
  return rows.map(({ at, ...counted }) => ({ ...counted, at }))
}
