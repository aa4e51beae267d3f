import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import type { CallLog } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import type { Gate } from '../store/gate.ts'
import { countCalls, lastCall } from './count-calls.ts'
import { findCalls, getCall } from './find-calls.ts'
import { createGroupCommit } from './group-commit.ts'
import { insertCallRows } from './insert-calls.ts'

/** A call log that acknowledges after the commit; `flush` writes what still waits. */
export type OpenCallLog = CallLog & { readonly flush: () => Promise<void> }

/** Opens the call log over its own pool. */
export function openCallLog(database: Database, gate: Gate, logger: Logger): OpenCallLog {
  const commits = createGroupCommit({
    write: (rows) => insertWithin(database, rows),
    onError: (error) => logger.error({ err: error }, 'the call log could not be written'),
    onPoison: (row, error) =>
      logger.error({ call_id: row.call_id, err: error }, 'the database refused a payload; the row is kept without it'),
  })
  return {
    append: commits.append,
    waiting: commits.waiting,
    isDown: commits.isDown,
    flush: commits.flush,
    countBy: (skill, since) => gate.run(() => countCalls(database.logSql, skill, since)),
    lastOf: (question) => gate.run(() => lastCall(database.logSql, question)),
    find: (query) => gate.run(() => findCalls(database.logSql, query)),
    get: (callId) => (isUuid(callId) ? gate.run(() => getCall(database.logSql, callId)) : Promise.resolve(undefined)),
  }
}

const writeDeadlineMs = 5000

async function insertWithin(database: Database, rows: Parameters<typeof insertCallRows>[1]): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('LOG_UNAVAILABLE', 'The database did not take the rows in time.')), writeDeadlineMs)
  })
  const writing = insertCallRows(database.logSql, rows)
  writing.catch(() => undefined)
  try {
    await Promise.race([writing, late])
  } finally {
    clearTimeout(timer)
  }
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
