/** A range that holds the true value nineteen times out of twenty. */
export type Range = { readonly low: number; readonly high: number }

/** A sample of numbers, as far as its mean is concerned. */
export type Sample = { readonly count: number; readonly mean: number; readonly variance: number }

const z = 1.959963984540054

/** Wilson's interval of a share among so many. */
export function wilson(share: number, count: number): Range {
  const spread = (z * z) / count
  const centre = (share + spread / 2) / (1 + spread)
  const half = (z / (1 + spread)) * Math.sqrt((share * (1 - share)) / count + spread / (4 * count))
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) }
}

/** Newcombe's interval of how much the share of b is above that of a. */
export function newcombe(
  a: { readonly share: number; readonly count: number },
  b: { readonly share: number; readonly count: number },
): Range {
  const inA = wilson(a.share, a.count)
  const inB = wilson(b.share, b.count)
  const difference = b.share - a.share
  return {
    low: difference - Math.hypot(b.share - inB.low, inA.high - a.share),
    high: difference + Math.hypot(inB.high - b.share, a.share - inA.low),
  }
}

/** Welch's interval of how much the mean of b is above that of a. */
export function welch(a: Sample, b: Sample): Range {
  const partA = a.variance / a.count
  const partB = b.variance / b.count
  const sum = partA + partB
  const difference = b.mean - a.mean
  if (sum === 0) return { low: difference, high: difference }
  const freedom = sum ** 2 / (partA ** 2 / (a.count - 1) + partB ** 2 / (b.count - 1))
  const half = student(freedom) * Math.sqrt(sum)
  return { low: difference - half, high: difference + half }
}

/** Student's t for 95 % on both sides, by the expansion in powers of 1/freedom; right to four digits from five degrees of freedom on. */
export function student(freedom: number): number {
  const g1 = (z ** 3 + z) / 4
  const g2 = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96
  const g3 = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384
  const g4 = (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92_160
  return z + g1 / freedom + g2 / freedom ** 2 + g3 / freedom ** 3 + g4 / freedom ** 4
}
