import type postgres from 'postgres'
import type { Unknowns } from '../ports.ts'
import type { Pool } from '../store/connect.ts'

type DueRow = { readonly call_id: string; readonly probe_tries: number; readonly skill: string | null; readonly version: string | null }

/** Calls whose row says `unknown`, as rows that one replica takes at a time: whoever dies with one leaves it to the next. */
export function openUnknowns(pool: () => Pool): Unknowns {
  const ask = <T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T> => pool().gate.run(() => work(pool().sql))
  return {
    take: (limit, leaseMs) =>
      ask(async (sql) => {
        const due = await sql<DueRow[]>`
          with taken as (
            update call_unknowns u set probe_due_at = now() + make_interval(secs => ${leaseMs / 1000}), probe_tries = u.probe_tries + 1
            from (select call_id from call_unknowns where probe_due_at <= now() order by probe_due_at limit ${limit} for update skip locked) due
            where u.call_id = due.call_id returning u.call_id, u.probe_tries)
          select taken.call_id, taken.probe_tries, c.skill, c.version from taken
            left join calls c on c.call_id = taken.call_id and c.outcome = 'unknown' and c.settled is null`
        return due.map(({ call_id: callId, probe_tries: tries, skill, version }) => ({
          callId,
          tries,
          called: skill === null || version === null ? undefined : { skill, version },
        }))
      }),
    putBack: (callId, { inMs, tries, probed }) =>
      ask(async (sql) => {
        await sql.begin(async (tx) => {
          // Where it was settled meanwhile, or its own row came, there is nothing to come back to.
          const open = await tx`
            update calls set probed = ${probed === null ? null : JSON.stringify(probed)}
            where call_id = ${callId}::uuid and outcome = 'unknown' and settled is null returning call_id`
          const seconds = inMs === null || open.length === 0 ? null : inMs / 1000
          await tx`update call_unknowns set probe_due_at = now() + make_interval(secs => ${seconds}::float8), probe_tries = ${tries} where call_id = ${callId}::uuid`
        })
      }),
    leave: (callIds) =>
      ask(async (sql) => {
        if (callIds.length > 0) await sql`update call_unknowns set probe_due_at = null where call_id = any(${callIds as string[]}::uuid[])`
      }),
  }
}
