import { randomUUID } from 'node:crypto'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type postgres from 'postgres'
import type { Pool } from '../store/connect.ts'
import type { LogEntry } from '../stored.ts'
import { markLeft } from './missing-replicas.ts'
import { settleOnce } from './settle-orphans.ts'
import { readSpoolId } from './spool/claim-folder.ts'
import { createDrain } from './spool/drain.ts'
import { encodeEntry } from './spool/frames.ts'
import { noteInstances, readInstances } from './spool/instances.ts'
import { openSpool } from './spool/open-spool.ts'
import { writeBatch } from './write-batch.ts'
import { writeEntries } from './write-entries.ts'

/** A spool that nobody has, and where what is in it goes. */
export type FolderDrain = {
  readonly log: Pool
  readonly folder: string
  readonly installId: string
  /** Hears every second how many rows were brought so far. */
  readonly onProgress: (rows: number) => void
  readonly onError: (error: unknown) => void
  /** After how many milliseconds without a row that was brought it is given up. */
  readonly patienceMs: number
}

/** What became of it: rows in Postgres, rows the database did not take as they were, calls told as unknown, and whether nothing is left. */
export type FolderDrained = { readonly rows: number; readonly refused: number; readonly unknown: number; readonly isEmpty: boolean }

const progressMs = 1000
const settleMs = 10_000

/** Brings a spool to Postgres; once nothing is left in it, the calls in it that have no end are told as unknown. What cannot be brought stays. */
export async function drainFolder({ log, folder, installId, onProgress, onError, patienceMs }: FolderDrain): Promise<FolderDrained> {
  const spool = await openSpool({ folder, maxBytes: Number.MAX_SAFE_INTEGER, onError })
  const refused = new Map<string, LogEntry>()
  let rows = 0
  let refusedRows = 0
  let unreadable = 0
  const write = async (entries: readonly LogEntry[]): Promise<void> => {
    await writeBatch(
      {
        write: (batch) => log.gate.run(() => writeEntries(log.sql, batch, installId), Number.POSITIVE_INFINITY),
        onPoison: (entry) => void refused.set(entry.row.call_id, entry),
      },
      entries,
    )
    // Before its place in the spool is free again, what Postgres has only in part is kept beside it.
    for (const entry of refused.values()) await keepAside(folder, entry)
    refusedRows += refused.size
    refused.clear()
    rows += entries.length
  }
  const drain = createDrain({
    spool: {
      ...spool,
      setAside: (segment) => {
        unreadable += 1
        return spool.setAside(segment)
      },
    },
    write,
    onError,
  })
  drain.begin()
  for (let before = -1, since = performance.now(); spool.oldest() !== undefined && performance.now() - since < patienceMs;) {
    if (rows !== before) [before, since] = [rows, performance.now()]
    await drain.settled(progressMs)
    onProgress(rows)
  }
  const isEmpty = spool.oldest() === undefined && unreadable === 0
  await drain.stop()
  await spool.close()
  const unknown = isEmpty ? await leave(log, folder, installId) : 0
  return { rows, refused: refusedRows, unknown, isEmpty }
}

async function keepAside(folder: string, entry: LogEntry): Promise<void> {
  const line = JSON.stringify({ call_id: entry.row.call_id, entry: encodeEntry(entry).toString('base64') })
  await appendFile(join(folder, 'refused.ndjson'), `${line}\n`, { mode: 0o600, flush: true })
}

// All its rows are there, so what has none is a call that was cut off; and nothing of its processes is missed any more.
async function leave(log: Pool, folder: string, installId: string): Promise<number> {
  const standing = { installId, spool: await readSpoolId(folder), instance: randomUUID(), openCalls: [], isCaughtUp: true, steadyMs: 0 }
  let unknown = 0
  while (await log.gate.run(() => hasIntents(log.sql, standing.spool)))
    unknown += await log.gate.run(() => settleOnce(log.sql, standing), settleMs)
  const instances = await readInstances(folder)
  await log.gate.run(() => markLeft(log.sql, instances))
  await noteInstances(folder, [])
  return unknown
}

async function hasIntents(sql: postgres.Sql, spool: string): Promise<boolean> {
  const [found] = await sql`select 1 from call_intents where spool = ${spool}::uuid limit 1`
  return found !== undefined
}
