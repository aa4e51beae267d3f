import type { CallRow, TailQuery } from '@repertoire/contract'
import { agentToRead, nameInRows } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Inbox, TailRow } from '../tail.ts'
import type { Visit } from '../visit.ts'
import { fitsFilters, type RowFilters } from './fits-filters.ts'
import { noteStream, requirePayloads, withholdPayloads } from './show-payloads.ts'
import { watchRights } from './stream-rights.ts'

/** What a stream of calls tells: a row, that it still lives, or why it ends. `seq` is where to go on. */
export type TailEvent =
  | { readonly kind: 'call'; readonly seq: number; readonly row: CallRow }
  | { readonly kind: 'beat'; readonly seq: number }
  | { readonly kind: 'end'; readonly seq: number; readonly reason: 'rights_changed' | 'slow_reader' | 'stopping'; readonly message: string }

/** A stream of calls that was opened. `next` is asked for one event after the other; `stuck` says that its reader has not asked for long. */
export type OpenedTail = { readonly next: () => Promise<TailEvent | undefined>; readonly stuck: AbortSignal; readonly close: () => void }

/** What is followed: rows that pass the filters, after a place or from now on. */
export type TailInput = { readonly query: TailQuery; readonly isStopping: () => boolean }

const rowsAtOnce = 200
const beatMs = 15_000
const stuckMs = 10_000
const againMs = 500

/** Follows the call log as it grows: every row once and in the order of commits, also across a new connection. */
export async function tailCalls(deps: Deps, visit: Visit, { query, isStopping }: TailInput): Promise<OpenedTail> {
  const { caller } = visit
  const nowMs = deps.clock.now().getTime()
  const { after: from, ...filters } = query
  const agent = agentToRead(caller, query.agent)
  if (query.q !== undefined) requirePayloads(caller, { agent, nowMs })
  const skill = query.skill === undefined ? undefined : nameInRows(deps.snapshot(), query.skill, { caller, nowMs })
  const giveBack = deps.tailPlaces.take(caller.id)
  const stuck = new AbortController()
  let askedAt = performance.now()
  let isWaiting = false
  const watch = setInterval(() => {
    if (!isWaiting && performance.now() - askedAt > stuckMs) stuck.abort()
  }, 1000)
  watch.unref()
  const close = (): void => {
    clearInterval(watch)
    reading.leave()
    giveBack()
  }
  const reading = createReading(deps, visit, {
    filters: { ...filters, skill, agent, onBehalfOf: caller.onBehalfOf?.subject },
    agent,
    isStopping,
  })
  try {
    await noteStream(deps, caller, { kind: 'tail', asked: query, agent })
    await reading.start(from)
  } catch (error) {
    close()
    throw error
  }
  return {
    stuck: stuck.signal,
    close,
    next: async () => {
      askedAt = performance.now()
      isWaiting = true
      try {
        return await reading.next()
      } finally {
        isWaiting = false
      }
    },
  }
}

type Reading = {
  readonly start: (from: number | undefined) => Promise<void>
  readonly next: () => Promise<TailEvent | undefined>
  readonly leave: () => void
}

type Following = { readonly filters: RowFilters; readonly agent: string | undefined; readonly isStopping: () => boolean }

function createReading(deps: Deps, visit: Visit, { filters, agent, isStopping }: Following): Reading {
  const rights = watchRights(deps, visit)
  const { caller } = visit
  let after = 0
  const waiting: TailRow[] = []
  let inbox: Inbox | undefined
  let beatAt = performance.now()
  let isOver = false
  const end = (reason: 'rights_changed' | 'stopping', message: string): TailEvent => {
    isOver = true
    return { kind: 'end', seq: after, reason, message }
  }
  const leave = (): void => {
    isOver = true
    inbox?.leave()
  }
  // Reads what was written before, until nothing is left between that and what arrives by itself.
  const readOn = async (): Promise<void> => {
    if (inbox !== undefined) {
      const { rows, isBehind } = await inbox.next()
      if (isBehind) {
        inbox.leave()
        inbox = undefined
      } else waiting.push(...rows)
      return
    }
    const upTo = await deps.tail.position()
    const rows = after < upTo ? await deps.tail.read({ after, upTo, agent, limit: rowsAtOnce }) : []
    waiting.push(...rows)
    if (rows.length < rowsAtOnce) inbox = deps.tail.join(upTo)
    if (rows.length === 0 && inbox !== undefined) after = Math.max(after, upTo)
  }
  return {
    leave,
    start: async (from) => {
      after = from ?? (await deps.tail.newest())
    },
    next: async () => {
      for (;;) {
        if (isOver) return undefined
        const lost = rights.lost()
        if (lost !== undefined) return end('rights_changed', lost)
        if (isStopping()) return end('stopping', 'This replica is stopping; another one goes on with Last-Event-ID.')
        const row = waiting.shift()
        if (row === undefined) {
          if (performance.now() - beatAt >= beatMs) return beat()
          await readOn().catch(() => pause(againMs))
          continue
        }
        // Whoever listens from now on joins those who have heard a moment less.
        if (row.seq <= after) continue
        after = row.seq
        if (!fitsFilters(row.row, filters)) continue
        beatAt = performance.now()
        const [shown = row.row] = withholdPayloads(deps, caller, [row.row])
        return { kind: 'call', seq: row.seq, row: shown }
      }
    },
  }

  function beat(): TailEvent {
    beatAt = performance.now()
    return { kind: 'beat', seq: after }
  }
}

// A database that is away is asked again in a moment; its reader hears that the stream lives.
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
