/** So many at once, and a bounded queue for those who come then. */
export type Slots = {
  /**
   * Takes a place, waiting for it at most so long, and only while somebody wants it; answers with what gives it back, or
   * undefined when there is none.
   */
  readonly take: (waitMs: number, rank?: number, signal?: AbortSignal | null) => Promise<(() => void) | undefined>
  readonly inUse: () => number
  readonly waiting: () => number
}

/** How many places each rank may fill up to, the most important rank first, and how many of one rank may wait. */
export type SlotOptions = {
  readonly limits: readonly number[]
  readonly queue: number
  /** Whether somebody is told at once who would, by what places were held lately, wait too long; otherwise everybody waits. */
  readonly foresees?: boolean
}

type Waiting = { readonly enter: () => void; readonly since: number }

// How much of the estimate a new holding time replaces.
const weight = 0.1

/** Makes places. A rank that matters more finds room above the limit of those that matter less, and is let in before them. */
export function createSlots({ limits, queue, foresees = false }: SlotOptions): Slots {
  const queues: Waiting[][] = limits.map(() => [])
  let inUse = 0
  let heldMs = 0
  const limitOf = (rank: number): number => limits[rank] ?? 0

  const hold = (): (() => void) => {
    inUse += 1
    const since = performance.now()
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      inUse -= 1
      heldMs += weight * (performance.now() - since - heldMs)
      letIn()
    }
  }
  const letIn = (): void => {
    for (const [rank, line] of queues.entries()) while (line.length > 0 && inUse < limitOf(rank)) line.shift()?.enter()
  }
  return {
    inUse: () => inUse,
    waiting: () => queues.reduce((sum, line) => sum + line.length, 0),
    take: async (waitMs, rank = 0, signal = null) => {
      const line = queues[rank]
      if (line === undefined || signal?.aborted === true) return undefined
      if (line.length === 0 && inUse < limitOf(rank)) return hold()
      const expectedMs = foresees ? (line.length * heldMs) / limitOf(rank) : 0
      if (waitMs <= 0 || line.length >= queue || expectedMs > waitMs) return undefined
      return new Promise((resolve) => {
        const leave = (): void => {
          const at = line.indexOf(waiting)
          if (at !== -1) line.splice(at, 1)
          clearTimeout(timer)
          resolve(undefined)
        }
        const timer = setTimeout(leave, waitMs)
        const waiting: Waiting = {
          since: performance.now(),
          enter: () => {
            clearTimeout(timer)
            resolve(hold())
          },
        }
        line.push(waiting)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
