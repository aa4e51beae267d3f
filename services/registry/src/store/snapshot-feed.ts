import { applyChanges, emptySnapshot, type Snapshot } from '@repertoire/core'
import type { Database } from './connect.ts'
import { raiseEpoch } from './epoch.ts'
import { loadChanges, OtherInstallation } from './load-changes.ts'
import { revisionChannel } from './transaction.ts'

/** Keeps the catalogue of this replica up to date. */
export type SnapshotFeed = {
  readonly current: () => Snapshot
  /** Answers once the catalogue has reached a revision. */
  readonly reach: (revision: number) => Promise<void>
  /** Milliseconds since the database last confirmed that this is the newest. */
  readonly ageMs: () => number
  /** Whether the database, and not only the disk, has confirmed it since this process began. */
  readonly isConfirmed: () => boolean
  /** Milliseconds by which this machine's clock is ahead of the database's. */
  readonly skewMs: () => number
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
  readonly now: () => number
  readonly onError: (error: unknown) => void
  /** Hears that the database fell behind what was held: somebody restored a backup. */
  readonly onRestored?: (held: number, found: number) => void
  /** What the disk kept, when there is something. */
  readonly from?: Confirmed | undefined
}

const pollMs = 2000
// A database that is away is looked for more often, so that its return is noticed at once.
const awayPollMs = 500
const firstLoadDeadlineMs = 30_000

/** Makes a feed: a notification brings the news, and a poll finds what a lost one did not. */
export function createSnapshotFeed({ database, now, onError, onRestored = () => undefined, from }: FeedOptions): SnapshotFeed {
  let snapshot = from?.snapshot ?? emptySnapshot
  // What the disk kept may be of an older release: it is served while there is nothing else, and never built upon.
  let isFromDisk = from !== undefined
  // A clock that is set cannot make a catalogue younger: within the process only time that passed counts.
  let confirmedAt = performance.now() - ageAtStart(from, now())
  let isConfirmed = false
  let skewMs = 0
  let running: Promise<void> | undefined
  let isStopped = false
  const listeners: ((confirmed: Confirmed) => void)[] = []
  let isAway = false
  let timer: NodeJS.Timeout | undefined
  let stopListening: (() => Promise<void>) | undefined

  const reloadOnce = async (): Promise<void> => {
    try {
      const askedAt = performance.now()
      const isFirst = isFromDisk || snapshot.revision === 0
      const held = isFirst ? emptySnapshot : snapshot
      const { pulse } = database
      const { changes, isRestored, at } = await pulse.gate.run(
        ({ alive }) => loadChanges(pulse.db, held, alive),
        isFirst ? firstLoadDeadlineMs : undefined,
      )
      if (isFromDisk && changes !== undefined && changes.installId !== snapshot.installId)
        throw new OtherInstallation(snapshot.installId, changes.installId)
      if (isRestored && changes !== undefined) {
        onRestored(snapshot.revision, changes.revision)
        await pulse.gate.run(() => raiseEpoch(pulse.db, changes))
        snapshot = emptySnapshot
        return await reloadOnce()
      }
      // A fill that took longer than another one must not overwrite it; applyChanges keeps the newer.
      if (changes !== undefined) snapshot = applyChanges(isFromDisk ? emptySnapshot : snapshot, changes)
      isFromDisk = false
      isConfirmed = true
      confirmedAt = askedAt
      skewMs = now() - at.getTime()
      isAway = false
      for (const tell of listeners) tell({ snapshot, confirmedAt: now() - (performance.now() - confirmedAt) })
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
    if (stopListening !== undefined) return
    stopListening = database.listen(
      {
        channel: revisionChannel,
        onPayload: (payload) => void reach(Number(payload)).catch(onError),
        onListen: () => void reload().catch(onError),
      },
      onError,
    )
    poll()
  }

  return {
    current: () => snapshot,
    reach,
    ageMs: () => performance.now() - confirmedAt,
    isConfirmed: () => isConfirmed,
    skewMs: () => skewMs,
    start: async () => {
      await reload()
      follow()
    },
    onConfirmed: (listener) => void listeners.push(listener),
    follow,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await stopListening?.()
    },
  }
}

// What the disk says was confirmed in the future was confirmed by a clock that was wrong: it counts as never.
function ageAtStart(from: Confirmed | undefined, nowMs: number): number {
  if (from === undefined) return 0
  const ageMs = nowMs - from.confirmedAt
  return ageMs < -60_000 ? Number.MAX_SAFE_INTEGER : Math.max(0, ageMs)
}
