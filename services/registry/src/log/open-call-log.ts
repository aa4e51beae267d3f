import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import type { CallLog } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import type { Gate } from '../store/gate.ts'
import { countCalls, lastCall } from './count-calls.ts'
import { findCalls, getCall } from './find-calls.ts'
import { insertCallRows } from './insert-calls.ts'
import { startDrain } from './spool/drain.ts'
import { encodeRow } from './spool/frames.ts'
import { openSpool } from './spool/open-spool.ts'
import { writeBatch } from './write-batch.ts'

/** A call log over a spool; `close` brings to Postgres what can be, and leaves the rest on disk for the next start. */
export type OpenCallLog = CallLog & {
  readonly spooledBytes: () => number
  readonly lagMs: () => number
  readonly close: () => Promise<void>
}

/** Where the spool lies and how large it may grow, and when a row counts as acknowledged. */
export type CallLogOptions = {
  readonly database: Database
  readonly gate: Gate
  readonly logger: Logger
  readonly folder: string
  readonly maxBytes: number
  readonly acknowledge: 'spool' | 'postgres'
}

const appendDeadlineMs = 6000
const writeDeadlineMs = 5000
const readOwnMs = 500
const closeMs = 1500

/** Opens the call log: a row is on this disk before its call is answered, and in Postgres soon after. */
export async function openCallLog({ database, gate, logger, folder, maxBytes, acknowledge }: CallLogOptions): Promise<OpenCallLog> {
  const spool = await openSpool({ folder, maxBytes, onError: (error) => logger.error({ err: error }, 'the spool could not be written') })
  const drain = startDrain({
    spool,
    write: (rows) =>
      writeBatch(
        {
          write: (batch) => withDeadline(insertCallRows(database.logSql, batch), writeDeadlineMs),
          onPoison: (row, error) =>
            logger.error({ call_id: row.call_id, err: error }, 'the database refused a row as it was; it is kept without payload'),
        },
        rows,
      ),
    onError: (error) => logger.error({ err: error }, 'the call log could not be written to Postgres; it waits on disk'),
  })
  // What this replica has acknowledged is there when it is asked for; what others have, a moment later.
  const readOwn = async <T>(work: () => Promise<T>): Promise<T> => {
    await drain.settled(readOwnMs)
    return gate.run(work)
  }
  return {
    append: async (row) => {
      try {
        const place = await withDeadline(spool.append(encodeRow(row)), appendDeadlineMs)
        drain.wake()
        if (acknowledge === 'postgres' && !(await drain.settled(appendDeadlineMs, place)))
          throw new Error('Postgres did not take the row in time')
      } catch (error) {
        throw unavailable(error)
      }
    },
    spooledBytes: spool.bytes,
    lagMs: drain.lagMs,
    isDown: () => spool.isDown() || (acknowledge === 'postgres' && drain.lagMs() > 0),
    countBy: (skill, since) => readOwn(() => countCalls(database.logSql, skill, since)),
    lastOf: (question) => readOwn(() => lastCall(database.logSql, question)),
    find: (query) => readOwn(() => findCalls(database.logSql, query)),
    get: (callId) => (isUuid(callId) ? readOwn(() => getCall(database.logSql, callId)) : Promise.resolve(undefined)),
    close: async () => {
      await drain.settled(closeMs)
      await drain.stop()
      await spool.close()
    },
  }
}

async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('LOG_UNAVAILABLE', 'The call log did not take the row in time.')), ms)
  })
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
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
