import { Refusal } from '@repertoire/core'
import { createSlots } from '../slots.ts'
import { explainDatabaseError, isDatabaseAway } from './database-error.ts'

/** What a piece of work is told, and tells: whether its time is over, that it is about to commit, that an answer has come. */
export type Ticket = { readonly isOver: () => boolean; readonly committing: () => void; readonly alive: () => void }

/** Lets database work through: never more than so many at a time, never longer than so long. */
export type Gate = {
  readonly run: <T>(work: (ticket: Ticket) => Promise<T>, deadlineMs?: number) => Promise<T>
  /** Milliseconds since the oldest work inside began; 0 when there is none. */
  readonly oldestMs: () => number
  /** Milliseconds since anything came back to any work inside. */
  readonly quietMs: () => number
  /** Gives up everything inside: the connections it waits on are gone. */
  readonly forget: () => void
}

type Inside = { readonly startedAt: number; readonly giveUp: () => void; readonly leave: () => void }

/** How many may be inside, which is one for every connection, how many may wait, and for how long. */
export type GateOptions = { readonly connections: number; readonly queue: number; readonly waitMs: number }

const usualDeadlineMs = 1500
/** Work that has no deadline of its own still does not wait for ever to begin. */
const longestWaitMs = 5000

/**
 * The driver waits for a connection without end, puts work behind work that hangs, and does not notice a dead link. So every
 * piece of work gets a connection of its own, after a short wait or not at all, and a deadline of ours. Work whose deadline
 * has passed must not begin or commit later: whoever was told that nothing happened has to be right.
 */
export function createGate({ connections, queue, waitMs }: GateOptions): Gate {
  const slots = createSlots({ limits: [connections], queue })
  const inside = new Set<Inside>()
  let heardAt = performance.now()
  const alive = (): void => void (heardAt = performance.now())
  return {
    oldestMs: () => Math.max(0, ...[...inside].map(({ startedAt }) => performance.now() - startedAt)),
    quietMs: () => performance.now() - heardAt,
    forget: () => {
      for (const { giveUp, leave } of inside) {
        giveUp()
        leave()
      }
      inside.clear()
    },
    run: async (work, deadlineMs = usualDeadlineMs) => {
      const leave = await slots.take(Number.isFinite(deadlineMs) ? Math.min(waitMs, deadlineMs) : longestWaitMs)
      if (leave === undefined) throw new Refusal('BUSY', 'Too many requests wait for the database.', { headers: { 'Retry-After': '1' } })
      let isOver = false
      let isCommitting = false
      let timer: NodeJS.Timeout | undefined
      let giveUp: () => void = () => undefined
      const late = new Promise<never>((_, reject) => {
        giveUp = () => {
          isOver = true
          reject(unavailable('The database did not answer in time.', isCommitting))
        }
        if (Number.isFinite(deadlineMs)) timer = setTimeout(giveUp, deadlineMs)
      })
      const entry = { startedAt: performance.now(), giveUp, leave }
      inside.add(entry)
      const running = work({ isOver: () => isOver, committing: () => (isCommitting = true), alive }).finally(() => {
        inside.delete(entry)
        leave()
        alive()
      })
      running.catch(() => undefined)
      try {
        return await Promise.race([running, late])
      } catch (error) {
        // An answer to COMMIT that never came says nothing about whether it was carried out.
        if (isCommitting && isDatabaseAway(error)) throw unavailable('The database went away while it was told to commit.', true)
        throw explainDatabaseError(error)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function unavailable(message: string, isPossible: boolean): Refusal {
  return new Refusal('UNAVAILABLE', message, {
    headers: { 'Retry-After': '2' },
    ...(isPossible ? { effect: 'possible', next: 'reload', hint: 'it may have been carried out: look before you ask again' } : {}),
  })
}
