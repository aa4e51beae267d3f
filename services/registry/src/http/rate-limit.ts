import { Refusal } from '@repertoire/core'

/** How many requests a second are let through, and how many at once after a pause. */
export type Rate = { readonly perSecond: number; readonly burst: number }

/** Lets requests through at a rate, each key by itself; `requireRoom` only looks whether the next one would be. */
export type RateLimit = {
  readonly take: (key: string, nowMs: number) => void
  readonly requireRoom: (key: string, nowMs: number) => void
  readonly refused: () => number
}

type Bucket = { tokens: number; at: number }

// Keys come from outside where they are addresses, so there is a bound whatever comes.
const mostBuckets = 10_000

/** Makes a token bucket for each key; a request that finds none left is refused with RATE_LIMITED and told when to come back. */
export function createRateLimit({ perSecond, burst }: Rate, what: string): RateLimit {
  const buckets = new Map<string, Bucket>()
  let refused = 0
  const fill = (key: string, nowMs: number): Bucket => {
    const bucket = buckets.get(key) ?? { tokens: burst, at: nowMs }
    // A clock that went back fills nothing.
    bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, nowMs - bucket.at) / 1000) * perSecond)
    bucket.at = nowMs
    return bucket
  }
  const refuse = ({ tokens }: Bucket): never => {
    refused += 1
    const waitSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond))
    throw new Refusal('RATE_LIMITED', `${what}: at most ${perSecond} requests a second, ${burst} after a pause.`, {
      hint: 'slow down, and ask for lists with If-None-Match',
      headers: { 'Retry-After': String(waitSeconds) },
    })
  }
  return {
    requireRoom: (key, nowMs) => {
      const bucket = buckets.get(key)
      if (bucket !== undefined && fill(key, nowMs).tokens < 1) refuse(bucket)
    },
    take: (key, nowMs) => {
      const bucket = fill(key, nowMs)
      // The one that was used longest ago stands first, and goes first.
      buckets.delete(key)
      const oldest = buckets.size >= mostBuckets ? buckets.keys().next().value : undefined
      if (oldest !== undefined) buckets.delete(oldest)
      buckets.set(key, bucket)
      if (bucket.tokens < 1) refuse(bucket)
      bucket.tokens -= 1
    },
    refused: () => refused,
  }
}
