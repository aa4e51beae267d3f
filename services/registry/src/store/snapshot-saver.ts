import { saveConfirmation, saveSnapshot } from './saved-snapshot.ts'
import type { Confirmed } from './snapshot-feed.ts'

/** Keeps on disk what this replica knows, for a start without a database. */
export type SnapshotSaver = { readonly note: (confirmed: Confirmed) => void; readonly stop: () => Promise<void> }

const leastPauseMs = 200
const confirmEveryMs = 5000
// A disk that is full stays so for a while: to try often helps nobody, and to say it often hides everything else.
const leastRetryMs = 5000
const mostRetryMs = 60_000
const reportEveryMs = 60_000

/** Makes a saver: a change is on disk soon after, at most a twentieth of the time is spent on writing, and never two at once. */
export function createSnapshotSaver(folder: string, onError: (error: unknown) => void): SnapshotSaver {
  let newest: Confirmed | undefined
  let saved: Confirmed | undefined
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let pauseMs = leastPauseMs
  let retryMs = 0
  let notBefore = 0
  let reportedAt = Number.NEGATIVE_INFINITY

  const write = async (): Promise<void> => {
    const confirmed = newest
    if (confirmed === undefined) return
    const started = performance.now()
    if (confirmed.snapshot === saved?.snapshot) await saveConfirmation(folder, confirmed)
    else {
      await saveSnapshot(folder, confirmed)
      pauseMs = Math.max(leastPauseMs, (performance.now() - started) * 20)
    }
    saved = confirmed
    retryMs = 0
  }
  const fail = (error: unknown): void => {
    const now = performance.now()
    retryMs = retryMs === 0 ? leastRetryMs : Math.min(mostRetryMs, retryMs * 2)
    notBefore = now + retryMs
    if (now - reportedAt < reportEveryMs) return
    reportedAt = now
    onError(error)
  }
  const later = (ms: number): void => {
    if (timer !== undefined || working !== undefined) return
    const attempt = (): void => {
      timer = undefined
      working = write()
        .catch(fail)
        .finally(() => {
          working = undefined
          if (newest !== undefined && newest.snapshot !== saved?.snapshot) later(pauseMs)
        })
    }
    timer = setTimeout(attempt, Math.max(ms, notBefore - performance.now()))
    timer.unref()
  }
  return {
    note: (confirmed) => {
      newest = confirmed
      if (confirmed.snapshot !== saved?.snapshot) later(leastPauseMs)
      else if (confirmed.confirmedAt - saved.confirmedAt >= confirmEveryMs) later(0)
    },
    stop: async () => {
      clearTimeout(timer)
      await working
      if (newest !== undefined && newest.confirmedAt !== saved?.confirmedAt) await write().catch(fail)
    },
  }
}
