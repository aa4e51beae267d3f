import type { LogEntry } from '../stored.ts'

type Waiting = { readonly entry: LogEntry; readonly resolve: () => void; readonly reject: (error: unknown) => void }

const mostAtOnce = 200
const mostWaiting = 2000

/** Writes entries to Postgres while their callers wait; those that come while one transaction is under way share the next. */
export function writeSoon(write: (entries: readonly LogEntry[]) => Promise<void>): (entry: LogEntry) => Promise<void> {
  let waiting: Waiting[] = []
  let running: Promise<void> | undefined
  const work = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostAtOnce)
      waiting = waiting.slice(mostAtOnce)
      await write(batch.map(({ entry }) => entry)).then(
        () => batch.forEach(({ resolve }) => resolve()),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      )
    }
  }
  return (entry) => {
    if (waiting.length >= mostWaiting) return Promise.reject(new Error('too many keyed calls wait for Postgres'))
    const written = new Promise<void>((resolve, reject) => waiting.push({ entry, resolve, reject }))
    running ??= work().finally(() => (running = undefined))
    return written
  }
}
