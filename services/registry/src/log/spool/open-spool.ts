import { mkdir, rm } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { findSegments } from './find-segments.ts'
import { frameAll, frameHeaderBytes, maxFrameBytes } from './frames.ts'
import { appendFrames, beginSegment, freeSegment, prepareSegment, segmentBytes, type Segment } from './segment.ts'

/** A place in the order of the spool. */
export type Place = { readonly generation: number; readonly end: number }

/** Rows on this replica's own disk, between their acknowledgement and Postgres. */
export type Spool = {
  /** Answers once the payload is where a crash of this process or of Postgres cannot take it, with its place in the order. */
  readonly append: (payload: Buffer) => Promise<Place>
  /** Where the newest row ends; undefined before the first. */
  readonly tail: () => Place | undefined
  /** The oldest segment with something left to drain; undefined when there is nothing. */
  readonly oldest: () => Segment | undefined
  /** Says that a segment is in Postgres up to a place. */
  readonly drainedTo: (segment: Segment, end: number) => Promise<void>
  /** Leaves a segment that cannot be read back as it lies: the next start saves of it what can be saved. */
  readonly setAside: (segment: Segment) => Promise<void>
  /** Whether rows cannot be taken: it is full, or the disk failed a moment ago. */
  readonly isDown: () => boolean
  readonly bytes: () => number
  readonly close: () => Promise<void>
}

/** How large it may grow, and what hears of a disk that fails. */
export type SpoolOptions = { readonly folder: string; readonly maxBytes: number; readonly onError: (error: unknown) => void }

type Waiting = { readonly payload: Buffer; readonly resolve: (place: Place) => void; readonly reject: (error: unknown) => void }

const downMs = 1000
const maxBatchBytes = 1024 * 1024
const maxWaiting = 20_000

/** A spool that can take no more until something is drained. */
export class SpoolFull extends Error {}

/** Opens a spool and takes over what a dead process left in its folder; that is drained first. */
export async function openSpool({ folder, maxBytes, onError }: SpoolOptions): Promise<Spool> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await findSegments(folder, onError)
  const maxSegments = Math.max(2, Math.floor(maxBytes / segmentBytes))
  const free = [...found.free]
  let full: Segment[] = [...found.used]
  let active: Segment | undefined
  let generation = found.newest
  let queue: Waiting[] = []
  let writing: Promise<void> | undefined
  let failedAt = Number.NEGATIVE_INFINITY
  let preparing: Promise<void> | undefined

  // Whoever appends waits for the sync, never for a drain: a full spool says so at once.
  const roomFor = async (bytes: number): Promise<Segment> => {
    if (active !== undefined && active.end + bytes <= segmentBytes) return active
    if (active !== undefined && active.drained >= active.end) {
      // Nothing in it is needed, so its own file is next: a disk with no room for another one goes on taking rows.
      free.push(await freeSegment(active))
      active = undefined
    }
    if (full.length + 1 >= maxSegments) throw new SpoolFull('the spool is full')
    const next = await beginSegment(folder, { generation: generation + 1, name: randomUUID(), free: free.pop() })
    generation += 1
    if (active !== undefined) full = [...full, active]
    active = next
    return next
  }
  // The next file is made while there still is room, so that no call waits for eight megabytes of zeros.
  const prepare = (): void => {
    if (active === undefined || active.end < segmentBytes / 2 || free.length > 0 || full.length + 2 >= maxSegments) return
    preparing ??= prepareSegment(folder, randomUUID())
      .then((path) => void free.push(path), onError)
      .finally(() => (preparing = undefined))
  }
  const writeBatch = async (batch: readonly Waiting[]): Promise<Place> => {
    const size = batch.reduce((sum, { payload }) => sum + payload.byteLength + 8, 0)
    const segment = await roomFor(size)
    const bytes = frameAll(
      batch.map(({ payload }) => payload),
      segment.generation,
    )
    try {
      await appendFrames(segment, bytes)
    } catch (error) {
      // What could not be written here is not tried here again: the file keeps what it has, and the next one is another.
      active = undefined
      if (segment.drained < segment.end) full = [...full, segment]
      else await freeSegment(segment).then((path) => void free.push(path), onError)
      throw error
    }
    prepare()
    return { generation: segment.generation, end: segment.end }
  }
  const work = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = takeBatch(queue)
      queue = queue.slice(batch.length)
      try {
        const place = await writeBatch(batch)
        failedAt = Number.NEGATIVE_INFINITY
        for (const waiting of batch) waiting.resolve(place)
      } catch (error) {
        failedAt = performance.now()
        if (!(error instanceof SpoolFull)) onError(error)
        for (const waiting of batch) waiting.reject(error)
      }
    }
  }
  const startWriting = (): void => {
    writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(work).finally(() => {
      writing = undefined
      // What came between the last look at the queue and this moment waits for nobody else.
      if (queue.length > 0) startWriting()
    })
  }
  return {
    append: (payload) => {
      // What could not be read back must not be acknowledged, and would lie before all that come after it.
      if (payload.byteLength + frameHeaderBytes > maxFrameBytes) {
        const tooLarge = new Error(`a row of ${payload.byteLength} bytes is larger than the spool takes`)
        onError(tooLarge)
        return Promise.reject(tooLarge)
      }
      if (queue.length >= maxWaiting) return Promise.reject(new SpoolFull('too many rows wait for the disk'))
      const appended = new Promise<Place>((resolve, reject) => queue.push({ payload, resolve, reject }))
      // One turn of the event loop gathers what arrived together; what arrives during a sync waits for the next.
      startWriting()
      return appended
    },
    tail: () => {
      const segment = active ?? full.at(-1)
      return segment === undefined ? undefined : { generation: segment.generation, end: segment.end }
    },
    oldest: () => {
      const segment = full[0] ?? active
      return segment !== undefined && segment.drained < segment.end ? segment : undefined
    },
    drainedTo: async (segment, end) => {
      segment.drained = end
      if (full[0] !== segment || end < segment.end) return
      full = full.slice(1)
      free.push(await freeSegment(segment))
      // What was needed once to bridge an outage is not kept for ever.
      while (free.length > 4) await rm(free.shift() ?? '', { force: true })
    },
    setAside: async (segment) => {
      full = full.filter((other) => other !== segment)
      if (active === segment) active = undefined
      await segment.file.close()
    },
    isDown: () => performance.now() - failedAt < downMs,
    bytes: () => [...full, ...(active === undefined ? [] : [active])].reduce((sum, segment) => sum + segment.end - segment.drained, 0),
    close: async () => {
      await Promise.all([writing, preparing])
      for (const segment of [...full, ...(active === undefined ? [] : [active])])
        // What Postgres has is not brought to it again by the next start.
        await (segment.drained < segment.end ? segment.file.close() : freeSegment(segment))
    },
  }
}

function takeBatch(queue: readonly Waiting[]): Waiting[] {
  let bytes = 0
  const batch: Waiting[] = []
  for (const waiting of queue) {
    bytes += waiting.payload.byteLength
    if (batch.length > 0 && bytes > maxBatchBytes) break
    batch.push(waiting)
  }
  return batch
}
