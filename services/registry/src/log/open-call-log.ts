import type { CallRow } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import type { CallLog } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import type { Completion, LogEntry, NewCallRow } from '../stored.ts'
import { countCalls, lastCall } from './count-calls.ts'
import { noteFeedback } from './feedback.ts'
import { getCall } from './find-calls.ts'
import { lagOfOthers } from './lag-of-others.ts'
import { markLeft } from './missing-replicas.ts'
import { settleCall } from './settle-call.ts'
import { keepFolded } from './rollups/fold.ts'
import { findPage } from './search/find-page.ts'
import { settleOrphans } from './settle-orphans.ts'
import { claimFolder, readSpoolId } from './spool/claim-folder.ts'
import { createDrain } from './spool/drain.ts'
import { encodeEntry } from './spool/frames.ts'
import { noteInstances, readInstances } from './spool/instances.ts'
import { openSpool } from './spool/open-spool.ts'
import { waitForEnd } from './wait-for-end.ts'
import { withDeadline } from './with-deadline.ts'
import { writeBatch } from './write-batch.ts'
import { announceCall, writeEntries } from './write-entries.ts'
import { writeSoon } from './write-soon.ts'

/** A call log over a spool; `close` brings to Postgres what can be, and leaves the rest on disk for the next start. */
export type OpenCallLog = CallLog & {
  /** Begins to bring rows to Postgres, once it is known to be that of the installation they belong to. */
  readonly begin: (installId: string) => Promise<void>
  /** Tells every replica at once of a call that nobody waits for, with the answer to its key. */
  readonly announce: (row: NewCallRow, completes?: Completion) => Promise<void>
  /** Looks for calls whose process is gone; how many were told. */
  readonly lookForOrphans: () => Promise<number>
  readonly spooledBytes: () => number
  readonly lagMs: () => number
  /** Answers once what this replica has acknowledged is in Postgres, as far as that is so soon, and everything there is counted. */
  readonly settleCounts: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Where the spool lies and how large it may grow, when a row counts as acknowledged, and which process this is. */
export type CallLogOptions = {
  readonly database: Database
  readonly logger: Logger
  readonly folder: string
  readonly maxBytes: number
  readonly acknowledge: 'spool' | 'postgres'
  readonly instance: string
}

const appendDeadlineMs = 1800
const keyedDeadlineMs = 1000
const readOwnMs = 400
const closeMs = 1500
const releaseAgainMs = 5000
/** As long as a timer can be set for. */
const longestMs = 2 ** 31 - 1

/** Opens the call log: a row is on this disk before its call is answered, and in Postgres soon after. */
export async function openCallLog(options: CallLogOptions): Promise<OpenCallLog> {
  const { database, logger, folder, maxBytes, acknowledge, instance } = options
  const { log, reading } = database
  const spool = await openSpool({ folder, maxBytes, onError: (error) => logger.error({ err: error }, 'the spool could not be written') })
  const spoolId = await readSpoolId(folder)
  const earlier = await readInstances(folder)
  await noteInstances(folder, [...earlier, instance])
  const openCalls = new Set<string>()
  let installId = ''
  let isCaughtUp = false
  let isClosed = false
  let troubleAt = performance.now()
  // A batch has no deadline of its own: while one is on its way no second one is sent, and a dead link is replaced.
  const write = (entries: readonly LogEntry[]): Promise<void> =>
    writeBatch(
      {
        write: (batch) => log.gate.run(() => writeEntries(log.sql, batch, installId), Number.POSITIVE_INFINITY).then(() => folding.wake()),
        onPoison: ({ row }, error) =>
          logger.error({ call_id: row.call_id, err: error }, 'the database refused a row as it was; it is kept without payload'),
      },
      entries,
    )
  // What lies in a file that was set aside is not in Postgres, however much of what came later is.
  let isWhole = true
  const drain = createDrain({
    spool: {
      ...spool,
      setAside: (segment) => {
        isWhole = false
        return spool.setAside(segment)
      },
    },
    write,
    onError: (error) => {
      troubleAt = performance.now()
      logger.error({ err: error }, 'the call log could not be written to Postgres; it waits on disk')
    },
  })
  const folding = keepFolded({ reading, logger })
  const orphans = settleOrphans({
    log,
    logger,
    instance,
    spool: spoolId,
    installId: () => installId,
    openCalls: () => [...openCalls],
    isCaughtUp: () => isCaughtUp,
    steadyMs: () => performance.now() - troubleAt,
  })
  // Nobody misses a process any more of which everything is there; until that is noted, it is tried again.
  const releaseEarlier = (): void => {
    if (isClosed || earlier.length === 0) return
    log.gate
      .run(() => markLeft(log.sql, earlier))
      .then(() => noteInstances(folder, [instance]))
      .catch(() => setTimeout(releaseEarlier, releaseAgainMs).unref())
  }
  const writeNow = writeSoon(write)
  // What this replica has acknowledged is there when it is asked for; what others have, a moment later.
  const readOwn = async <T>(work: () => Promise<T>): Promise<T> => {
    await drain.settled(readOwnMs)
    return log.gate.run(work)
  }
  const toSpool = async (entry: LogEntry): Promise<void> => {
    const place = await withDeadline(spool.append(encodeEntry(entry)), appendDeadlineMs)
    drain.wake()
    if (acknowledge === 'postgres' && !(await drain.settled(appendDeadlineMs, place)))
      throw new Error('Postgres did not take the row in time')
  }
  const append = async (entry: LogEntry): Promise<void> => {
    try {
      // The answer to a key has to be there for every replica at once; without Postgres the disk keeps it until it can be.
      const isThere = entry.completes !== undefined && installId !== '' && (await isWritten(withDeadline(writeNow(entry), keyedDeadlineMs)))
      if (!isThere) await toSpool(entry)
    } catch (error) {
      throw unavailable(error)
    } finally {
      if (entry.intent === undefined) openCalls.delete(entry.row.call_id)
    }
  }
  return {
    append,
    intend: async (row, kind) => {
      openCalls.add(row.call_id)
      // An intent that was not acknowledged may be on the disk all the same; its call does not run.
      await append({ row, intent: { kind, spool: spoolId, instance } }).catch((error: unknown) => {
        openCalls.delete(row.call_id)
        throw error
      })
    },
    abandon: (callId) => void openCalls.delete(callId),
    announce: async (row, completes) => {
      openCalls.add(row.call_id)
      try {
        await log.gate.run(
          ({ committing }) =>
            announceCall(log.sql, {
              entry: { row, intent: { kind: 'async', spool: spoolId, instance } },
              completes,
              installId,
              committing,
            }),
          keyedDeadlineMs,
        )
      } catch (error) {
        openCalls.delete(row.call_id)
        throw error
      }
    },
    spooledBytes: spool.bytes,
    lagMs: drain.lagMs,
    isDown: () => spool.isDown() || (acknowledge === 'postgres' && drain.lagMs() > 0),
    countBy: (skill, since) => readOwn(() => countCalls(log.sql, skill, since)),
    lastOf: (question) => readOwn(() => lastCall(log.sql, question)),
    find: async (query) => {
      await drain.settled(readOwnMs)
      return reading.gate.run(async () => ({
        ...(await findPage(reading.sql, query)),
        lagMs: await lagOfOthers(reading.sql, instance),
      }))
    },
    get: async (callId, waitMs = 0) => {
      if (!isUuid(callId)) return undefined
      const look = (): Promise<CallRow | undefined> => readOwn(() => getCall(log.sql, callId))
      return waitForEnd(look, waitMs)
    },
    settle: (callId, settlement) => (isUuid(callId) ? readOwn(() => settleCall(log.sql, callId, settlement)) : Promise.resolve(false)),
    noteFeedback: (feedback) => log.gate.run(() => noteFeedback(log.sql, feedback)),
    settleCounts: async () => {
      await drain.settled(readOwnMs)
      await folding.now()
    },
    lookForOrphans: orphans.look,
    begin: async (id) => {
      await claimFolder(folder, id)
      installId = id
      const left = spool.tail()
      drain.begin()
      // What an earlier process left is drained first; only then is it known which of its calls have no row.
      void drain.settled(longestMs, left).then((isThere) => {
        isCaughtUp = isThere && isWhole
        if (isCaughtUp) releaseEarlier()
      })
    },
    close: async () => {
      isClosed = true
      await orphans.stop()
      await drain.settled(closeMs)
      await drain.stop()
      await folding.stop()
      await spool.close()
    },
  }
}

async function isWritten(written: Promise<void>): Promise<boolean> {
  return written.then(
    () => true,
    () => false,
  )
}

function unavailable(cause: unknown): Refusal {
  const refusal = new Refusal('LOG_UNAVAILABLE', 'The call log cannot take this call, so it is not acknowledged.', {
    headers: { 'Retry-After': '2' },
  })
  refusal.cause = cause
  return refusal
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
