import type postgres from 'postgres'
import type { IntentKind, LogEntry } from '../stored.ts'
import { encodeRow } from './spool/frames.ts'

/** An intent whose call has no row yet. */
export type OpenIntent = {
  readonly callId: string
  readonly kind: IntentKind
  readonly row: Buffer
}

/** Notes the intents among some entries, but those whose call has ended meanwhile: an intent may be drained after its row. */
export async function noteIntents(tx: postgres.TransactionSql, entries: readonly LogEntry[]): Promise<void> {
  // Most entries are rows, which are not read for this.
  const intents = entries.flatMap((entry) => (entry.intent === undefined ? [] : [{ row: entry.row, ...entry.intent }]))
  if (intents.length === 0) return
  const columns = [
    intents.map(({ row }) => row.call_id),
    intents.map(({ kind }) => kind),
    intents.map(({ row }) => row.agent_id),
    intents.map(({ row }) => row.skill),
    intents.map(({ spool }) => spool),
    intents.map(({ instance }) => instance),
    intents.map(({ row }) => encodeRow(row).toString('hex')),
  ]
  await tx.unsafe(
    `insert into call_intents (call_id, kind, agent_id, skill, spool, instance, row)
     select id, kind, agent, skill, spool, instance, decode(row, 'hex')
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[]) as batch (id, kind, agent, skill, spool, instance, row)
     where not exists (select 1 from calls where calls.call_id = batch.id) on conflict do nothing`,
    columns as never[],
    { prepare: true },
  )
}

/** Takes away the intents of calls that have their row. */
export async function closeIntents(tx: postgres.TransactionSql, callIds: readonly string[]): Promise<void> {
  if (callIds.length > 0) await tx`delete from call_intents where call_id = any(${callIds as string[]}::uuid[])`
}

/** The intent of a call that has not ended. */
export async function findIntent(sql: postgres.Sql, callId: string): Promise<OpenIntent | undefined> {
  const [found] = await sql<{ call_id: string; kind: IntentKind; row: Buffer }[]>`
    select call_id, kind, row from call_intents where call_id = ${callId}::uuid`
  return found === undefined ? undefined : { callId: found.call_id, kind: found.kind, row: found.row }
}
