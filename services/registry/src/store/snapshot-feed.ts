import { applyChanges, emptySnapshot, type Snapshot } from '@repertoire/core'
import type { Database } from './connect.ts'
import type { Gate } from './gate.ts'
import { loadChanges } from './load-changes.ts'
import { revisionChannel } from './transaction.ts'

/** Keeps the catalogue of this replica up to date. */
export type SnapshotFeed = {
  readonly current: () => Snapshot
  /** Answers once the catalogue has reached a revision. */
  readonly reach: (revision: number) => Promise<void>
  /** Milliseconds since the database last confirmed that this is the newest. */
  readonly ageMs: () => number
  readonly stop: () => Promise<void>
}

/** What the feed works with. */
export type FeedOptions = {
  readonly database: Database
  readonly gate: Gate
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

const pollMs = 2000

/** Loads the catalogue, then follows it: a notification brings the news, and a poll finds what a lost one did not. */
export async function startSnapshotFeed({ database, gate, now, onError }: FeedOptions): Promise<SnapshotFeed> {
  let snapshot = emptySnapshot
  let confirmedAt = now()
  let running: Promise<void> | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined

  const reloadOnce = async (): Promise<void> => {
    const changes = await gate.run(() => loadChanges(database.db, snapshot.revision), 30_000)
    // A fill that took longer than another one must not overwrite it; applyChanges keeps the newer.
    if (changes !== undefined) snapshot = applyChanges(snapshot, changes)
    confirmedAt = now()
  }
  const reload = (): Promise<void> => {
    running ??= reloadOnce().finally(() => (running = undefined))
    return running
  }
  const reach = async (revision: number): Promise<void> => {
    for (let attempt = 0; snapshot.revision < revision && attempt < 3; attempt += 1) await reload()
  }
  const poll = (): void => {
    if (stopped) return
    timer = setTimeout(() => void reload().catch(onError).finally(poll), pollMs * (0.75 + Math.random() / 2))
    timer.unref()
  }

  await reload()
  const listening = database.sql.listen(
    revisionChannel,
    (payload) => void reach(Number(payload)).catch(onError),
    () => void reload().catch(onError),
  )
  listening.catch(onError)
  poll()
  return {
    current: () => snapshot,
    reach,
    ageMs: () => now() - confirmedAt,
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await listening.then((handle) => handle.unlisten()).catch(() => undefined)
    },
  }
}
