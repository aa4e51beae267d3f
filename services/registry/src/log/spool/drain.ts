import type { LogEntry } from '../../stored.ts'
import { decodeEntry, frameHeaderBytes, maxFrameBytes } from './frames.ts'
import type { Place, Spool } from './open-spool.ts'
import { readSegment, type Segment } from './segment.ts'

/** Brings what is spooled to Postgres, in the order it was acknowledged. */
export type Drain = {
  /** Lets it begin; before that nothing is brought anywhere. */
  readonly begin: () => void
  /** Says that there is something to do. */
  readonly wake: () => void
  /** Answers once everything up to a place, or spooled by now, is in Postgres, or the time is over; whether it is. */
  readonly settled: (withinMs: number, place?: Place) => Promise<boolean>
  /** Milliseconds since rows wait for a database that does not take them; 0 while it does. */
  readonly lagMs: () => number
  readonly stop: () => Promise<void>
}

/** What a drain works with. */
export type DrainOptions = {
  readonly spool: Spool
  readonly write: (entries: readonly LogEntry[]) => Promise<void>
  readonly onError: (error: unknown) => void
}

const maxRows = 1000
const batchBytes = 2 * 1024 * 1024
// Read in pieces: the batch before this one is on its way, and has questions and answers to exchange meanwhile.
const pieceBytes = 64 * 1024
// A transaction costs as much for one row as for fifty; whoever waits for a row does not wait for this.
const gatherMs = 200
const littleBytes = 256 * 1024
const leastPauseMs = 100
const mostPauseMs = 1000

type Batch = { readonly segment: Segment; readonly from: number; readonly upTo: number; readonly entries: readonly LogEntry[] }

/** Makes a drain. While the database is away it tries again, ever more rarely up to once a second; nothing is given up. */
export function createDrain({ spool, write, onError }: DrainOptions): Drain {
  let running: Promise<void> | undefined
  let hasBegun = false
  let isStopped = false
  let failingSince: number | undefined
  let pauseMs = leastPauseMs
  let timer: NodeJS.Timeout | undefined
  let waiters: { readonly place: Place; readonly wake: (isThere: boolean) => void }[] = []
  let reached: Place = { generation: 0, end: 0 }
  // Up to where files are there that could not be read back, by their generation: what lies behind is not in Postgres.
  const broken = new Map<number, number>()

  const reach = (segment: Segment, end: number): Promise<void> => {
    reached = { generation: segment.generation, end }
    const woken = waiters.filter(({ place }) => isAtLeast(reached, place))
    waiters = waiters.filter(({ place }) => !isAtLeast(reached, place))
    for (const { wake } of woken) wake(true)
    return spool.drainedTo(segment, end)
  }
  const readPiece = async (segment: Segment, from: number): ReturnType<typeof readSegment> => {
    const piece = await readSegment(segment, from, pieceBytes)
    // Only where a row is larger, more is read.
    return piece.payloads.length > 0 ? piece : readSegment(segment, from, frameHeaderBytes + maxFrameBytes)
  }
  const readBatch = async (segment: Segment, from: number): Promise<Batch> => {
    const entries: LogEntry[] = []
    let upTo = from
    while (entries.length < maxRows && upTo - from < batchBytes && upTo < segment.end) {
      const { payloads, end } = await readPiece(segment, upTo)
      if (payloads.length === 0) break
      const rows = payloads.slice(0, maxRows - entries.length)
      upTo = rows.length === payloads.length ? end : upTo + rows.reduce((sum, row) => sum + row.byteLength + frameHeaderBytes, 0)
      entries.push(...rows.map(decodeEntry))
    }
    return { segment, from, upTo, entries }
  }
  const drainAll = async (): Promise<void> => {
    let ahead: Promise<Batch> | undefined
    for (let segment = spool.oldest(); segment !== undefined && !isStopped; segment = spool.oldest()) {
      const next = await ahead
      const isNext = next?.segment === segment && next.from === segment.drained && next.entries.length > 0
      const { entries, upTo } = isNext ? next : await readBatch(segment, segment.drained)
      if (entries.length === 0) {
        // A frame that cannot be read back although it was acknowledged is a broken disk: told, and left for the next start.
        onError(new Error(`${segment.path} cannot be read back at ${segment.drained}; the next start saves what is behind it`))
        broken.set(segment.generation, segment.drained)
        await spool.setAside(segment)
        for (const { place, wake } of waiters) if (place.generation === segment.generation) wake(false)
        continue
      }
      const writing = write(entries)
      // One thread reads rows while the database takes those before them.
      ahead = segment.end - upTo > littleBytes ? readBatch(segment, upTo) : undefined
      ahead?.catch(() => undefined)
      await writing
      await reach(segment, upTo)
      failingSince = undefined
      pauseMs = leastPauseMs
      // What came meanwhile is little, and gathers first: one small transaction after the other would take a core for itself.
      const left = spool.oldest()
      if (ahead === undefined && waiters.length === 0 && (left === undefined || left === segment)) return
    }
  }
  const run = (): void => {
    timer = undefined
    running = drainAll()
      .catch((error: unknown) => {
        if (failingSince === undefined) onError(error)
        failingSince ??= performance.now()
        pauseMs = Math.min(mostPauseMs, pauseMs * 2)
      })
      .finally(() => {
        running = undefined
        if (spool.oldest() !== undefined) later(failingSince !== undefined ? pauseMs : waiters.length > 0 ? 0 : gatherMs)
      })
  }
  const later = (ms: number): void => {
    if (running !== undefined || isStopped || !hasBegun) return
    if (timer !== undefined && (ms > 0 || failingSince !== undefined)) return
    clearTimeout(timer)
    timer = setTimeout(run, ms)
  }
  const settled = async (withinMs: number, place = spool.tail()): Promise<boolean> => {
    if (place === undefined) return true
    if (place.end > (broken.get(place.generation) ?? Number.POSITIVE_INFINITY)) return false
    if (isAtLeast(reached, place) || spool.oldest() === undefined) return true
    let late: NodeJS.Timeout | undefined
    const done = new Promise<boolean>((resolve) => waiters.push({ place, wake: resolve }))
    const over = new Promise<false>((resolve) => (late = setTimeout(() => resolve(false), withinMs)))
    later(0)
    return Promise.race([done, over]).finally(() => clearTimeout(late))
  }
  return {
    begin: () => {
      hasBegun = true
      if (spool.oldest() !== undefined) later(0)
    },
    wake: () => later(gatherMs),
    settled,
    lagMs: () => (failingSince === undefined ? 0 : performance.now() - failingSince),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

function isAtLeast(reached: Place, place: Place): boolean {
  return reached.generation > place.generation || (reached.generation === place.generation && reached.end >= place.end)
}
