import type { Logger } from 'pino'
import type { Tail } from '../../tail.ts'
import type { Pool } from '../../store/connect.ts'
import { createInbox, type FedInbox } from './inbox.ts'
import { readAfter } from './read-after.ts'

const everyMs = 400
const rowsAtOnce = 500

/**
 * Follows the log by `seq`, whose order is that of commits: one question a moment for all who listen at this replica, and none
 * while nobody does.
 */
export function openTail({
  reading,
  logger,
}: {
  readonly reading: Pool
  readonly logger: Logger
}): Tail & { readonly stop: () => Promise<void> } {
  const inboxes = new Set<FedInbox>()
  let position = -1
  let polling: Promise<void> | undefined
  const read: Tail['read'] = (question) => reading.gate.run(() => readAfter(reading.sql, question))
  const newest = async (): Promise<number> => {
    const [last] = await reading.gate.run(() => reading.sql<{ seq: number | null }[]>`select max(seq)::float8 as seq from calls`)
    return last?.seq ?? 0
  }
  const poll = async (): Promise<void> => {
    for (;;) {
      const after = position
      const rows = await read({ after, limit: rowsAtOnce })
      // Everybody may have left meanwhile, and somebody else begun at a newer place.
      if (position !== after || inboxes.size === 0) return
      position = rows.at(-1)?.seq ?? after
      // Those who hear nothing new are woken all the same: they look whether they may still listen.
      for (const inbox of inboxes) inbox.deliver(rows)
      if (rows.length < rowsAtOnce) return
    }
  }
  const timer = setInterval(() => {
    if (inboxes.size > 0)
      polling ??= poll()
        .catch((error: unknown) => {
          logger.debug({ err: error }, 'the log could not be followed')
          for (const inbox of inboxes) inbox.deliver([])
        })
        .finally(() => (polling = undefined))
  }, everyMs)
  timer.unref()
  return {
    read,
    newest,
    position: async () => {
      if (inboxes.size === 0) {
        const found = await newest()
        // Where nobody listens, nobody misses what lies between.
        if (inboxes.size === 0) position = Math.max(position, found)
      }
      return position
    },
    join: (after) => {
      // What came between would be missing: whoever is not up to date has to read on first.
      if (after !== position) return undefined
      const inbox = createInbox(() => inboxes.delete(inbox))
      inboxes.add(inbox)
      return inbox
    },
    stop: async () => {
      clearInterval(timer)
      inboxes.clear()
      await polling
    },
  }
}
