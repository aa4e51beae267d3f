import { EventEmitter } from 'node:events'

/** What ends a request early: its deadline, or whoever waits for it. */
export type Ending = {
  /** As a client takes it; an AbortSignal with a time-out of its own would live, with its timer, until that is over. */
  readonly signal: EventEmitter & { readonly aborted: boolean; readonly reason: unknown }
  readonly isLate: () => boolean
  /** Answers as some work does, or fails when this ends: a client does not hear of it before it has a connection. */
  readonly orEnd: <T>(work: Promise<T>) => Promise<T>
  /** Takes the timer away once there is nothing to end any more. */
  readonly clear: () => void
}

/** Makes the ending of one request, in so many milliseconds or with the signal of who waits for it. */
export function endInTime(timeoutMs: number, outer: AbortSignal | null): Ending {
  const signal = Object.assign(new EventEmitter(), { aborted: false, reason: undefined as unknown })
  let isLate = false
  const end = (reason: unknown): void => {
    if (signal.aborted) return
    signal.aborted = true
    signal.reason = reason
    signal.emit('abort')
  }
  const timer = setTimeout(() => {
    isLate = true
    end(new Error('the deadline passed'))
  }, Math.ceil(timeoutMs))
  const onAbort = (): void => end(outer?.reason)
  outer?.addEventListener('abort', onAbort, { once: true })
  if (outer?.aborted === true) onAbort()
  return {
    signal,
    isLate: () => isLate,
    orEnd: (work) =>
      new Promise((resolve, reject) => {
        signal.once('abort', () => reject(signal.reason))
        if (signal.aborted) reject(signal.reason)
        work.then(resolve, reject)
      }),
    clear: () => {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onAbort)
    },
  }
}
