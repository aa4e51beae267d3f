import type postgres from 'postgres'
import { ForeignDatabase } from '../store/transaction.ts'
import type { Completion, LogEntry } from '../stored.ts'
import { completeClaims } from './complete-claims.ts'
import { insertRows } from './insert-rows.ts'
import { closeIntents, noteIntents } from './intents.ts'
import { callIdOf, writeReadyRow } from './ready-rows.ts'
import { replaceUnknown } from './unknown-rows.ts'

const drainLock = 0x5245504c

/**
 * Writes what goes to the log, in one transaction: rows with their payloads, intents, and the answers of keyed calls. What is
 * there already stays as it is, with the `seq` under which it is counted once.
 */
export async function writeEntries(sql: postgres.Sql, entries: readonly LogEntry[], installId: string): Promise<void> {
  await atTheLog(sql, installId, async (tx) => {
    const ended = entries.filter((entry) => entry.intent === undefined)
    await replaceUnknown(tx, ended)
    await insertRows(
      tx,
      ended.map((entry) => entry.ready ?? writeReadyRow(entry.row)),
    )
    await noteIntents(tx, entries)
    await closeIntents(tx, ended.filter((entry) => entry.closesIntent === true).map(callIdOf))
    await completeClaims(
      tx,
      ended.flatMap((entry) => entry.completes ?? []),
    )
  })
}

/** What is told of a call in the background, and what hears that it is about to be committed. */
export type Announced = {
  readonly entry: LogEntry
  readonly completes: Completion | undefined
  readonly installId: string
  readonly committing: () => void
}

/** Tells of a call in the background, and of the answer to its key, before its caller hears anything. */
export async function announceCall(sql: postgres.Sql, { entry, completes, installId, committing }: Announced): Promise<void> {
  await atTheLog(sql, installId, async (tx) => {
    await noteIntents(tx, [entry])
    await completeClaims(tx, completes === undefined ? [] : [completes])
    committing()
  })
}

/** One writer of the log at a time over all replicas, so that the order of seq is the order of commits. */
export async function atTheLog<T>(sql: postgres.Sql, installId: string, work: (tx: postgres.TransactionSql) => Promise<T>): Promise<T> {
  return (await sql.begin(async (tx) => {
    const [owner] = await tx`select install_id, pg_advisory_xact_lock(${drainLock}) from installation`
    if (owner?.['install_id'] !== installId) throw new ForeignDatabase()
    return work(tx)
  })) as T
}
