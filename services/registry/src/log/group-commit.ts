import { Refusal } from '@repertoire/core'
import type { NewCallRow } from '../stored.ts'
import { isDataRefused } from '../store/database-error.ts'

/** Collects rows that arrive while a batch is being written, and writes them together; each waits for its commit. */
export type GroupCommit = {
  readonly append: (row: NewCallRow) => Promise<void>
  readonly waiting: () => number
  /** Whether a batch failed within the last second, and none was written since. */
  readonly isDown: () => boolean
  readonly flush: () => Promise<void>
}

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

// After a failure, one call a second is let through to find out whether it is over.
const downMs = 1000

/** Starts a group commit. A row is refused when too many wait, and when its commit takes longer than its deadline. */
export function createGroupCommit({
  write,
  onPoison,
  onError,
  maxBatch = 1000,
  maxWaiting = 10_000,
  deadlineMs = 6000,
}: GroupCommitOptions): GroupCommit {
  let queue: Waiting[] = []
  let inFlight = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let draining: Promise<void> | undefined

  const writeSafely = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      await write(batch.map((waiting) => waiting.row))
      failedAt = Number.NEGATIVE_INFINITY
      for (const waiting of batch) waiting.resolve()
    } catch (error) {
      const [only] = batch
      if (!isDataRefused(error)) {
        failedAt = performance.now()
        refuse(batch, error)
      } else if (batch.length === 1 && only !== undefined) await writeWithoutPayload(only, error)
      else {
        // One row the database does not take must not cost the others: halves find it.
        await writeSafely(batch.slice(0, batch.length / 2))
        await writeSafely(batch.slice(batch.length / 2))
      }
    }
  }
  const writeWithoutPayload = async (waiting: Waiting, cause: unknown): Promise<void> => {
    onPoison(waiting.row, cause)
    try {
      await write([{ ...waiting.row, input: null, output: null, error_message: null, intent: null, labels: {} }])
      waiting.resolve()
    } catch (error) {
      refuse([waiting], error)
    }
  }
  const refuse = (batch: readonly Waiting[], error: unknown): void => {
    onError(error)
    const refusal = unavailable(error)
    for (const waiting of batch) waiting.reject(refusal)
  }
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, maxBatch)
      queue = queue.slice(maxBatch)
      inFlight = batch.length
      await writeSafely(batch)
      inFlight = 0
    }
  }
  return {
    append: (row) => {
      if (queue.length >= maxWaiting) return Promise.reject(unavailable(new Error('too many rows wait')))
      const committed = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(unavailable(new Error('the commit took too long'))), deadlineMs)
        const settle =
          <A extends unknown[]>(end: (...args: A) => void) =>
          (...args: A): void => {
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
    isDown: () => performance.now() - failedAt < downMs,
    flush: async () => {
      while (draining !== undefined) await draining
    },
  }
}

function unavailable(cause: unknown): Refusal {
  const refusal = new Refusal('LOG_UNAVAILABLE', 'The call log cannot take this call, so it is not acknowledged.', {
    headers: { 'Retry-After': '2' },
  })
  refusal.cause = cause
  return refusal
}
