import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationBucket, percentile, readHistogram, writeHistogram, type Histogram } from '../src/histogram.ts'
import { check, patienceMs } from './check-property.ts'

const histogramOf = (values: readonly number[]): Histogram => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(durationBucket(value), (counts.get(durationBucket(value)) ?? 0) + 1)
  return counts
}
const exact = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.max(1, Math.ceil(values.length * part)) - 1] ?? 0
/** Durations that are skewed as real ones are: most short, a few very long. */
const durations = fc.array(
  fc.double({ min: -2.2, max: 12.5, noNaN: true }).map((power) => Math.exp(power)),
  { minLength: 1, maxLength: 400 },
)

/** A number with an exponent as the database keeps it. */
const whole = (text: string): bigint => {
  const [digits = '', exponent = '0'] = text.split('e')
  return BigInt(digits + '0'.repeat(Number(exponent)))
}

describe('the histogram of durations', () => {
  it(
    'gives percentiles within five percent of the exact ones, on skewed data',
    () => {
      check([durations, fc.constantFrom(0.5, 0.9, 0.95, 0.99, 1)], (values, part) => {
        const told = percentile(histogramOf(values), part) ?? 0
        const wanted = exact(values, part)
        // Below a tenth of a millisecond everything is alike.
        return Math.abs(told - wanted) <= Math.max(0.05, wanted * 0.05)
      })
    },
    patienceMs,
  )
  it(
    'as a number, adds up as the histograms do',
    () => {
      check([durations, durations], (one, other) => {
        const sum = whole(writeHistogram(histogramOf(one))) + whole(writeHistogram(histogramOf(other)))
        expect(new Map(readHistogram(String(sum)))).toEqual(histogramOf([...one, ...other]))
      })
    },
    patienceMs,
  )
  it('has a bucket for everything, and none for nothing', () => {
    expect([durationBucket(0), durationBucket(-1), durationBucket(Number.NaN), durationBucket(1e12)]).toEqual([0, 0, 0, 159])
    expect([percentile(new Map(), 0.5), percentile(readHistogram('0'), 0.5)]).toEqual([null, null])
  })
})
