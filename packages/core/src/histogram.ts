/** How many buckets a histogram of durations has. */
export const histogramBuckets = 160

// Each bucket ends a tenth above the one before: its middle is within five percent of everything in it. The first ends at
// 0.1 ms; the last holds what took longer than the longest deadline.
const firstEndMs = 0.1
const ratio = 1.1
const logRatio = Math.log(ratio)
const digits = 12

/** What a bucket is made of, for those who count elsewhere by the same rule. */
export const histogramShape = { firstEndMs, logRatio } as const

/** A histogram of durations: how many fell into each bucket, by the bucket's number. */
export type Histogram = ReadonlyMap<number, number>

/** The bucket of a duration in milliseconds. */
export function durationBucket(ms: number): number {
  if (!(ms > firstEndMs)) return 0
  return Math.min(histogramBuckets - 1, Math.ceil(Math.log(ms / firstEndMs) / logRatio - 1e-9))
}

/**
 * A histogram as one decimal number, twelve digits for each bucket, the first bucket last: sums of such numbers are sums of
 * histograms. The empty buckets below the first full one are an exponent, so that the text stays short.
 */
export function writeHistogram(histogram: Histogram): string {
  const buckets = [...histogram.keys()].sort((a, b) => b - a)
  const lowest = buckets.at(-1) ?? 0
  let text = ''
  let above: number | undefined
  for (const bucket of buckets) {
    const count = String(histogram.get(bucket) ?? 0)
    text += above === undefined ? count : '0'.repeat(digits * (above - bucket) - count.length) + count
    above = bucket
  }
  return text === '' ? '0' : `${text}e${digits * lowest}`
}

/** Reads such a number, as the database writes it: with all its digits. */
export function readHistogram(text: string): Histogram {
  const histogram = new Map<number, number>()
  for (let end = text.length, bucket = 0; end > 0; end -= digits, bucket += 1) {
    const count = Number(text.slice(Math.max(0, end - digits), end))
    if (count > 0) histogram.set(bucket, count)
  }
  return histogram
}

/** The duration, in milliseconds, that a part (0.95 for p95) of everything counted does not exceed, within five percent; null when nothing was counted. */
export function percentile(histogram: Histogram, part: number): number | null {
  const total = [...histogram.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = Math.max(1, Math.ceil(total * part))
  let seen = 0
  for (const bucket of [...histogram.keys()].sort((a, b) => a - b)) {
    seen += histogram.get(bucket) ?? 0
    if (seen >= wanted) return middleOf(bucket)
  }
  return null
}

// The geometric middle is as far from one end of a bucket as from the other.
function middleOf(bucket: number): number {
  const end = firstEndMs * ratio ** bucket
  return Math.round((bucket === 0 ? end / 2 : end / Math.sqrt(ratio)) * 1000) / 1000
}
