import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Pool } from '../store/connect.ts'
import { closeIntents } from './intents.ts'
import { insertRows } from './insert-rows.ts'
import { writeReadyRow } from './ready-rows.ts'
import { decodeEntry } from './spool/frames.ts'
import { atTheLog } from './write-entries.ts'

/** What somebody who looks for orphans needs to know. */
export type OrphanOptions = {
  readonly log: Pool
  readonly logger: Logger
  readonly installId: () => string
  readonly spool: string
  readonly instance: string
  /** Calls of this process that are under way. */
  readonly openCalls: () => readonly string[]
  /** Whether everything that an earlier process left in this spool is in Postgres. */
  readonly isCaughtUp: () => boolean
  /** Milliseconds for which the database has taken everything. */
  readonly steadyMs: () => number
}

const everyMs = 5000
/** A process that was not heard of for so long answers for nothing any more: its calls are told within a minute. */
const silentMs = 45_000
const mostAtOnce = 500

/** Looks every five seconds for calls whose process is gone, and writes what is known of them: that nobody knows how they ended. */
export function settleOrphans(options: OrphanOptions): { readonly look: () => Promise<number>; readonly stop: () => Promise<void> } {
  const { log, logger } = options
  let looking: Promise<number> | undefined
  const look = (): Promise<number> => {
    looking ??= log.gate
      .run(() =>
        settleOnce(log.sql, {
          installId: options.installId(),
          spool: options.spool,
          instance: options.instance,
          openCalls: options.openCalls(),
          isCaughtUp: options.isCaughtUp(),
          steadyMs: options.steadyMs(),
        }),
      )
      .finally(() => (looking = undefined))
    return looking
  }
  const timer = setInterval(() => {
    if (options.installId() !== '')
      void look().catch((error: unknown) => logger.debug({ err: error }, 'orphaned calls could not be looked for'))
  }, everyMs)
  timer.unref()
  return {
    look,
    stop: async () => {
      clearInterval(timer)
      await looking?.catch(() => undefined)
    },
  }
}

/** What is so in the moment of one look. */
export type Standing = {
  readonly installId: string
  readonly spool: string
  readonly instance: string
  readonly openCalls: readonly string[]
  readonly isCaughtUp: boolean
  readonly steadyMs: number
}

/** Looks once, and answers with how many calls were told. */
export async function settleOnce(sql: postgres.Sql, standing: Standing): Promise<number> {
  return writeUnknown(sql, standing.installId, await findOrphans(sql, standing))
}

type Orphan = { readonly call_id: string; readonly row: Buffer }

/**
 * Whose process is gone: the spool's own earlier process, once all it left is drained; another one that was not heard of, as
 * long as this replica is not the one that was cut off; and calls of this process that ended without their row.
 */
async function findOrphans(sql: postgres.Sql, standing: Standing): Promise<readonly Orphan[]> {
  const { spool, instance, openCalls, isCaughtUp, steadyMs } = standing
  const seconds = silentMs / 1000
  return sql<Orphan[]>`
    select call_id, row from call_intents i where
      (${isCaughtUp} and spool = ${spool}::uuid and instance <> ${instance}::uuid)
      or (${steadyMs > silentMs} and instance <> ${instance}::uuid and noted_at < now() - make_interval(secs => ${seconds})
        and not exists (select 1 from replicas r where r.instance = i.instance and coalesce(r.left_at, r.last_seen_at) > now() - make_interval(secs => ${seconds})))
      or (instance = ${instance}::uuid and noted_at < now() - make_interval(secs => ${seconds}) and not call_id = any(${openCalls as string[]}::uuid[]))
    order by call_id limit ${mostAtOnce}`
}

/** Writes the rows of calls of which nobody knows how they ended; a row that comes late takes their place. */
async function writeUnknown(sql: postgres.Sql, installId: string, orphans: readonly Orphan[]): Promise<number> {
  if (orphans.length === 0) return 0
  return atTheLog(sql, installId, async (tx) => {
    const rows = orphans.map(({ row }) => ({
      ...decodeEntry(row).row,
      outcome: 'unknown',
      error_code: 'OUTCOME_UNKNOWN',
      error_origin: 'registry',
      error_message: 'The process that carried the call out ended before it could say how.',
    }))
    const ids = await insertRows(
      tx,
      rows.map((row) => writeReadyRow(row)),
    )
    if (ids.length > 0) {
      await tx`insert into call_unknowns (call_id) select unnest(${ids as string[]}::uuid[]) on conflict do nothing`
      await tx`update call_claims set state = 'unknown' where call_id = any(${ids as string[]}::uuid[]) and state = 'running' and effects = 'once'`
    }
    await closeIntents(
      tx,
      orphans.map(({ call_id: id }) => id),
    )
    return ids.length
  })
}
