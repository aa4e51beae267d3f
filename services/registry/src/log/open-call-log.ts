import { Refusal } from '@repertoire/core'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { CallLog } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import { countCalls, lastCall } from './count-calls.ts'
import { findCalls, getCall } from './find-calls.ts'
import { insertCallRows } from './insert-calls.ts'
import { createDrain } from './spool/drain.ts'
import { encodeRow } from './spool/frames.ts'
import { openSpool } from './spool/open-spool.ts'
import { writeBatch } from './write-batch.ts'

/** A call log over a spool; `close` brings to Postgres what can be, and leaves the rest on disk for the next start. */
export type OpenCallLog = CallLog & {
  /** Begins to bring rows to Postgres, once it is known to be that of the installation they belong to. */
  readonly begin: (installId: string) => Promise<void>

  readonly spooledBytes: () => number
  readonly lagMs: () => number
  readonly close: () => Promise<void>
}

/** Where the spool lies and how large it may grow, and when a row counts as acknowledged. */
export type CallLogOptions = {
  readonly database: Database
  readonly logger: Logger
  readonly folder: string
  readonly maxBytes: number
  readonly acknowledge: 'spool' | 'postgres'
}

const appendDeadlineMs = 6000
const readOwnMs = 500
const closeMs = 1500

/** Opens the call log: a row is on this disk before its call is answered, and in Postgres soon after. */
export async function openCallLog({ database: { log }, logger, folder, maxBytes, acknowledge }: CallLogOptions): Promise<OpenCallLog> {
  const spool = await openSpool({ folder, maxBytes, onError: (error) => logger.error({ err: error }, 'the spool could not be written') })
  let installId = ''
  const drain = createDrain({
    spool,
    write: (rows) =>
      writeBatch(
        {
          // Without a deadline of its own: while one batch is on its way no second one is sent, and a dead link is replaced.
          write: (batch) => log.gate.run(() => insertCallRows(log.sql, batch, installId), Number.POSITIVE_INFINITY),
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
    return log.gate.run(work)
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
    countBy: (skill, since) => readOwn(() => countCalls(log.sql, skill, since)),
    lastOf: (question) => readOwn(() => lastCall(log.sql, question)),
    find: (query) => readOwn(() => findCalls(log.sql, query)),
    get: (callId) => (isUuid(callId) ? readOwn(() => getCall(log.sql, callId)) : Promise.resolve(undefined)),
    begin: async (id) => {
      await claimFolder(folder, id)
      installId = id
      drain.begin()
    },
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

// Rows that were acknowledged belong to one installation, and are brought to no other.
async function claimFolder(folder: string, installId: string): Promise<void> {
  const file = join(folder, 'installation')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (known.trim() !== '' && known.trim() !== installId)
    throw new Error(
      `The spool ${folder} holds calls of installation ${known.trim()}, and the database belongs to ${installId}: start with the database they belong to, or with another data directory.`,
    )
  if (known.trim() === '') await writeFile(file, `${installId}\n`, { mode: 0o600 })
}
