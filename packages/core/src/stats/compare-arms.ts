import { newcombe, welch, type Range } from './intervals-of-means.ts'

/** What the units of one arm met: the share of each unit's calls that failed, and how long each took on average. */
export type ArmSample = {
  readonly units: number
  readonly calls: number
  readonly failures: number
  /** Means over units, each counting once; null when there are none. */
  readonly failureRate: number | null
  readonly meanMs: number | null
  readonly varianceMs: number | null
}

/** How much b is above a, within which range, and what may be said of it. */
export type ArmDifference = {
  readonly difference: number | null
  readonly low: number | null
  readonly high: number | null
  readonly verdict: 'higher' | 'lower' | 'no_difference_seen' | 'too_few_units'
}

/** How many units each side needs before anything is said: below, one unit more or less would decide. */
export const leastUnits = 20

/**
 * Compares two arms, unit by unit: the calls of one unit are alike, so that a thousand calls of three agents say no more than
 * three. A unit's share of failures varies less than a coin with that mean would, so the interval of coins is a cautious one.
 */
export function compareArms(a: ArmSample, b: ArmSample): { readonly failureRate: ArmDifference; readonly meanMs: ArmDifference } {
  const isEnough = a.units >= leastUnits && b.units >= leastUnits
  const rates =
    isEnough && a.failureRate !== null && b.failureRate !== null
      ? newcombe({ share: a.failureRate, count: a.units }, { share: b.failureRate, count: b.units })
      : undefined
  const means = isEnough
    ? welch(
        { count: a.units, mean: a.meanMs ?? 0, variance: a.varianceMs ?? 0 },
        { count: b.units, mean: b.meanMs ?? 0, variance: b.varianceMs ?? 0 },
      )
    : undefined
  return { failureRate: judge(a.failureRate, b.failureRate, rates), meanMs: judge(a.meanMs, b.meanMs, means) }
}

function judge(a: number | null, b: number | null, range: Range | undefined): ArmDifference {
  const difference = a === null || b === null ? null : b - a
  if (range === undefined) return { difference, low: null, high: null, verdict: 'too_few_units' }
  const verdict = range.low > 0 ? 'higher' : range.high < 0 ? 'lower' : 'no_difference_seen'
  return { difference, low: range.low, high: range.high, verdict }
}
