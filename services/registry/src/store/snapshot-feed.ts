import { applyChanges, emptySnapshot, type Snapshot } from '@repertoire/core'
import type { Database } from './connect.ts'
import type { Gate } from './gate.ts'
import { loadChanges, OtherInstallation } from './load-changes.ts'
import { revisionChannel } from './transaction.ts'

/** Keeps the catalogue of this replica up to date. */
export type SnapshotFeed = {
  readonly current: () => Snapshot
  /** Answers once the catalogue has reached a revision. */
  readonly reach: (revision: number) => Promise<void>
  /** Milliseconds since the database last confirmed that this is the newest. */
  readonly ageMs: () => number
  /** Reads the catalogue once, then follows it. */
  readonly start: () => Promise<void>
  /** Tells a listener of every confirmation; the snapshot is another one when something changed. */
  readonly onConfirmed: (listener: (confirmed: Confirmed) => void) => void
  /** Follows it without waiting for a database that is away. */
  readonly follow: () => void
  readonly stop: () => Promise<void>
}

/** A catalogue that was confirmed at some time, milliseconds since 1970. */
export type Confirmed = { readonly snapshot: Snapshot; readonly confirmedAt: number }

/** What the feed works with. */
export type FeedOptions = {
  readonly database: Database
  readonly gate: Gate
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** What the disk kept, when there is something. */
  readonly from?: Confirmed | undefined
}

const pollMs = 2000
// A database that is away is looked for more often, so that its return is noticed at once.
const awayPollMs = 500
const firstLoadDeadlineMs = 30_000

/** Makes a feed: a notification brings the news, and a poll finds what a lost one did not. */
export function createSnapshotFeed({ database, gate, now, onError, from }: FeedOptions): SnapshotFeed {
  let snapshot = from?.snapshot ?? emptySnapshot
  // What the disk kept may be of an older release: it is served while there is nothing else, and never built upon.
  let isFromDisk = from !== undefined
  let confirmedAt = from?.confirmedAt ?? now()
  let running: Promise<void> | undefined
  let isStopped = false
  const listeners: ((confirmed: Confirmed) => void)[] = []
  let isAway = false
  let timer: NodeJS.Timeout | undefined
  let listening: Promise<{ unlisten: () => Promise<void> }> | undefined

  const reloadOnce = async (): Promise<void> => {
    try {
      const askedAt = now()
      const isFirst = isFromDisk || snapshot.revision === 0
      const held = isFirst ? emptySnapshot : snapshot
      const changes = await gate.run(() => loadChanges(database.reserved, held), isFirst ? firstLoadDeadlineMs : undefined)
      if (isFromDisk && changes !== undefined && changes.installId !== snapshot.installId)
        throw new OtherInstallation(snapshot.installId, changes.installId)
      // A fill that took longer than another one must not overwrite it; applyChanges keeps the newer.
      if (changes !== undefined) snapshot = applyChanges(isFromDisk ? emptySnapshot : snapshot, changes)
      isFromDisk = false
      confirmedAt = askedAt
      isAway = false
      for (const tell of listeners) tell({ snapshot, confirmedAt })
    } catch (error) {
      isAway = true
      throw error
    }
  }
  const reload = (): Promise<void> => {
    running ??= reloadOnce().finally(() => (running = undefined))
    return running
  }
  const reach = async (revision: number): Promise<void> => {
    for (let attempt = 0; snapshot.revision < revision && attempt < 3; attempt += 1) await reload()
  }
  const poll = (): void => {
    if (isStopped) return
    timer = setTimeout(() => void reload().catch(onError).finally(poll), (isAway ? awayPollMs : pollMs) * (0.75 + Math.random() / 2))
    timer.unref()
  }
  const follow = (): void => {
    if (listening !== undefined) return
    listening = database.sql.listen(
      revisionChannel,
      (payload) => void reach(Number(payload)).catch(onError),
      () => void reload().catch(onError),
    )
    listening.catch(onError)
    poll()
  }

  return {
    current: () => snapshot,
    reach,
    ageMs: () => Math.max(0, now() - confirmedAt),
    start: async () => {
      await reload()
      follow()
    },
    onConfirmed: (listener) => void listeners.push(listener),
    follow,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await listening?.then((handle) => handle.unlisten()).catch(() => undefined)
    },
  }
}
