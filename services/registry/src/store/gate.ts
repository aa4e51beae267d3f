import { Refusal } from '@repertoire/core'
import { explainDatabaseError } from './database-error.ts'

/** Lets database work through: never more than so many at a time, never longer than so long. */
export type Gate = { readonly run: <T>(work: () => Promise<T>, deadlineMs?: number) => Promise<T> }

/**
 * The driver waits for a connection without end and does not notice a dead link, so every piece of work gets a deadline of
 * ours, and beyond `maxInside` the next is refused at once.
 */
export function createGate(maxInside: number, defaultDeadlineMs = 6000): Gate {
  let inside = 0
  return {
    run: async (work, deadlineMs = defaultDeadlineMs) => {
      if (inside >= maxInside) throw new Refusal('BUSY', 'Too many requests wait for the database.', { headers: { 'Retry-After': '1' } })
      inside += 1
      let timer: NodeJS.Timeout | undefined
      const running = work().finally(() => (inside -= 1))
      running.catch(() => undefined)
      try {
        const late = new Promise<never>((_, reject) => {
          timer = setTimeout(
            () => reject(new Refusal('UNAVAILABLE', 'The database did not answer in time.', { headers: { 'Retry-After': '2' } })),
            deadlineMs,
          )
        })
        return await Promise.race([running, late])
      } catch (error) {
        throw explainDatabaseError(error)
      } finally {
        clearTimeout(timer)
      }
    },
  }
}
