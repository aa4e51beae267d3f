/** Leaves an upstream alone that has failed too often lately. */
export type Breaker = {
  /** Milliseconds until it is tried again; 0 when it may be. Of those who ask while it recovers, one is let through. */
  readonly closedForMs: () => number
  /** Notes how a call went; undefined where that says nothing of the upstream. */
  readonly note: (failed: boolean | undefined) => void
}

const windowMs = 10_000
const leastCalls = 10
const failingShare = 0.5
const restMs = 5000
/** A trial that was let through and never came back holds the others off no longer than this. */
const trialMs = 10_000

type Window = { since: number; calls: number; failures: number }

/** Makes a breaker: it opens when half of at least ten calls within ten seconds failed, and tries one call after five. */
export function createBreaker(now: () => number = () => performance.now()): Breaker {
  let window: Window = { since: now(), calls: 0, failures: 0 }
  let openUntil: number | undefined
  let isTrying = false
  return {
    closedForMs: () => {
      if (openUntil === undefined) return 0
      const leftMs = openUntil - now()
      if (leftMs > 0) return leftMs
      isTrying = true
      openUntil = now() + trialMs
      return 0
    },
    note: (failed) => {
      if (failed === undefined) {
        // A trial that tells nothing is the next caller's.
        if (isTrying) openUntil = now()
        isTrying = false
        return
      }
      if (isTrying) {
        isTrying = false
        openUntil = failed ? now() + restMs : undefined
        window = { since: now(), calls: 0, failures: 0 }
        return
      }
      if (now() - window.since > windowMs) window = { since: now(), calls: 0, failures: 0 }
      window.calls += 1
      if (failed) window.failures += 1
      if (window.calls >= leastCalls && window.failures >= window.calls * failingShare) openUntil ??= now() + restMs
    },
  }
}
