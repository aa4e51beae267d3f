import { Refusal } from '@repertoire/core'
import type { NewCallRow } from '../ports.ts'
import { isDataRefused } from '../store/database-error.ts'

/** Collects rows that arrive while a batch is being written, and writes them together; each waits for its commit. */
export type GroupCommit = { readonly append: (row: NewCallRow) => Promise<void>; readonly waiting: () => number; readonly flush: () => Promise<void> }

/** How batches are written and bounded. */
export type GroupCommitOptions = {
  readonly write: (rows: readonly NewCallRow[]) => Promise<void>
  readonly onPoison: (row: NewCallRow, error: unknown) => void
  readonly onError: (error: unknown) => void
  readonly maxBatch?: number
  readonly maxWaiting?: number
  readonly deadlineMs?: number
}

type Waiting = { readonly row: NewCallRow; readonly resolve: () => void; readonly reject: (error: unknown) => void }

/** Starts a group commit. A row is refused when too many wait, and when its commit takes longer than its deadline. */
export function createGroupCommit({ write, onPoison, onError, maxBatch = 1000, maxWaiting = 10_000, deadlineMs = 6000 }: GroupCommitOptions): GroupCommit {
  let queue: Waiting[] = []
  let inFlight = 0
  let draining: Promise<void> | undefined

  const writeSafely = async (rows: readonly NewCallRow[]): Promise<void> => {
    try {
      await write(rows)
    } catch (error) {
      if (!isDataRefused(error)) throw error
      const [only] = rows
      if (rows.length === 1 && only !== undefined) {
        // The row is kept; what the database cannot take of it is its payload.
        onPoison(only, error)
        return write([{ ...only, input: null, output: null, error_message: null, intent: null, labels: {} }])
      }
      await writeSafely(rows.slice(0, rows.length / 2))
      await writeSafely(rows.slice(rows.length / 2))
    }
  }
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, maxBatch)
      queue = queue.slice(maxBatch)
      inFlight = batch.length
      try {
        await writeSafely(batch.map((waiting) => waiting.row))
        for (const waiting of batch) waiting.resolve()
      } catch (error) {
        onError(error)
        const refusal = unavailable(error)
        for (const waiting of batch) waiting.reject(refusal)
      } finally {
        inFlight = 0
      }
    }
  }
  return {
    append: (row) => {
      if (queue.length >= maxWaiting) return Promise.reject(unavailable(new Error('too many rows wait')))
      const committed = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(unavailable(new Error('the commit took too long'))), deadlineMs)
        const settle = <A extends unknown[]>(end: (...args: A) => void) => (...args: A): void => {
          clearTimeout(timer)
          end(...args)
        }
        queue.push({ row, resolve: settle(resolve), reject: settle(reject) })
      })
      // One turn of the event loop gathers what arrived together.
      draining ??= new Promise<void>((resolve) => setImmediate(resolve)).then(drain).finally(() => (draining = undefined))
      return committed
    },
    waiting: () => queue.length + inFlight,
    flush: async () => {
      while (draining !== undefined) await draining
    },
  }
}

function unavailable(cause: unknown): Refusal {
  const refusal = new Refusal('LOG_UNAVAILABLE', 'The call log cannot take this call, so it is not acknowledged.', { headers: { 'Retry-After': '2' } })
  refusal.cause = cause
  return refusal
}
