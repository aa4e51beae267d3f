import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareArms, leastUnits, nameOfSource, newcombe, planCounts, student, welch, wilson, type ArmSample } from '../src/index.ts'
import { check, patienceMs } from './check-property.ts'

const share = fc.double({ min: 0, max: 1, noNaN: true })
const count = fc.integer({ min: 1, max: 100_000 })

/** A generator that starts anew with every seed. */
const randomFrom = (seed: number) => {
  let state = seed
  return (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())

/** What units met: each has a rate of failures of its own, and makes many calls. */
function sampleOf(
  random: () => number,
  { units, rate, spread, calls }: { units: number; rate: number; spread: number; calls: number },
): ArmSample {
  const met = Array.from({ length: units }, () => {
    const own = Math.min(1, Math.max(0, rate + spread * normal(random)))
    let failed = 0
    for (let call = 0; call < calls; call += 1) if (random() < own) failed += 1
    return { failed, ms: 100 + 30 * normal(random) }
  })
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length
  const meanMs = mean(met.map(({ ms }) => ms))
  return {
    units,
    calls: units * calls,
    failures: met.reduce((sum, { failed }) => sum + failed, 0),
    failureRate: mean(met.map(({ failed }) => failed / calls)),
    meanMs,
    varianceMs: met.reduce((sum, { ms }) => sum + (ms - meanMs) ** 2, 0) / (units - 1),
  }
}

describe('intervals', () => {
  it(
    'of a share hold it, lie within 0 and 1, and narrow as more is counted',
    () => {
      check([share, count], (p, n) => {
        const { low, high } = wilson(p, n)
        const more = wilson(p, n * 4)
        return low >= 0 && high <= 1 && low <= p + 1e-12 && high >= p - 1e-12 && more.high - more.low <= high - low + 1e-12
      })
    },
    patienceMs,
  )
  it('are those of the textbook', () => {
    const close = (range: { low: number; high: number }, low: number, high: number): void => {
      expect(range.low).toBeCloseTo(low, 4)
      expect(range.high).toBeCloseTo(high, 4)
    }
    close(wilson(81 / 263, 263), 0.2553, 0.3662)
    // Newcombe 1998, method 10: 56/70 against 48/80 is 0.2 (0.0524 to 0.3339).
    close(newcombe({ share: 48 / 80, count: 80 }, { share: 56 / 70, count: 70 }), 0.0524, 0.3339)
    for (const [freedom, t] of [
      [5, 2.5706],
      [10, 2.2281],
      [20, 2.086],
      [60, 2.0003],
      [1000, 1.9623],
    ] as const)
      expect(student(freedom)).toBeCloseTo(t, 3)
    const range = welch({ count: 25, mean: 20, variance: 16 }, { count: 40, mean: 23, variance: 9 })
    expect([range.low, range.high]).toEqual([expect.closeTo(1.122, 2), expect.closeTo(4.878, 2)])
  })
  it(
    'of a difference turn round with its sides',
    () => {
      check([share, count, share, count], (p, n, q, m) => {
        const there = newcombe({ share: p, count: n }, { share: q, count: m })
        const back = newcombe({ share: q, count: m }, { share: p, count: n })
        return (
          Math.abs(there.low + back.high) < 1e-9 &&
          Math.abs(there.high + back.low) < 1e-9 &&
          there.low <= q - p + 1e-12 &&
          there.high >= q - p - 1e-12
        )
      })
    },
    patienceMs,
  )
})

describe('a comparison of arms', () => {
  const rounds = 400
  const judge = (seed: number, b: { rate: number }): { byUnit: number; byCall: number; slower: number } => {
    const random = randomFrom(seed)
    const seen = { byUnit: 0, byCall: 0, slower: 0 }
    for (let round = 0; round < rounds; round += 1) {
      const one = sampleOf(random, { units: 40, rate: 0.2, spread: 0.12, calls: 50 })
      const other = sampleOf(random, { units: 40, rate: b.rate, spread: 0.12, calls: 50 })
      const { failureRate, meanMs } = compareArms(one, other)
      if (failureRate.verdict !== 'no_difference_seen') seen.byUnit += 1
      if (meanMs.verdict !== 'no_difference_seen') seen.slower += 1
      const calls = newcombe(
        { share: one.failures / one.calls, count: one.calls },
        { share: other.failures / other.calls, count: other.calls },
      )
      if (calls.low > 0 || calls.high < 0) seen.byCall += 1
    }
    return seen
  }
  it('counted at the unit is seldom wrong where nothing differs; counted by calls it is wrong all the time', () => {
    const { byUnit, byCall, slower } = judge(7, { rate: 0.2 })
    console.log(`of ${rounds} comparisons of the same: ${byUnit} wrong by unit, ${slower} wrong about time, ${byCall} wrong by call`)
    expect([byUnit / rounds <= 0.06, slower / rounds <= 0.08, byCall / rounds > 0.2]).toEqual([true, true, true])
  })
  it('sees a difference that is there', () => {
    expect(judge(11, { rate: 0.6 }).byUnit / rounds).toBeGreaterThan(0.9)
  })
  it(
    'says nothing of fewer units than it takes, whatever they met',
    () => {
      check([fc.integer({ min: 0, max: leastUnits - 1 }), share, count], (units, rate, other) => {
        const few: ArmSample = { units, calls: 1_000_000, failures: 0, failureRate: rate, meanMs: 1, varianceMs: 0 }
        const many: ArmSample = { ...few, units: other + leastUnits, failureRate: 1 - rate, meanMs: 1000 }
        return [compareArms(few, many), compareArms(many, few)].every(
          ({ failureRate, meanMs }) =>
            failureRate.verdict === 'too_few_units' && meanMs.verdict === 'too_few_units' && failureRate.low === null,
        )
      })
    },
    patienceMs,
  )
})

describe('where counts come from', () => {
  const dimension = fc.constantFrom('skill', 'version', 'agent', 'arm', 'outcome', 'error_code' as const)
  const asked = fc.record({
    minutes: fc.integer({ min: 1, max: 90 * 24 * 60 }),
    start: fc.integer({ min: 0, max: 2 ** 31 }),
    interval: fc.constantFrom('none', 'minute', 'hour', 'day' as const),
    groupBy: fc.uniqueArray(dimension, { maxLength: 3 }),
    filters: fc.dictionary(dimension, fc.constant('x'), { maxKeys: 3 }),
  })
  const hourMs = 3_600_000
  it(
    'can always tell what was asked, reads rows of little only, and never counts less than the window',
    () => {
      let refused = 0
      check([asked], ({ minutes, start, interval, groupBy, filters }) => {
        const from = new Date(start * 1000)
        const window = { from, to: new Date(from.getTime() + minutes * 60_000) }
        let plan
        try {
          plan = planCounts({ window, interval, groupBy: groupBy as never, filters })
        } catch (error) {
          refused += 1
          return (error as { code?: string }).code === 'INVALID_REQUEST' && minutes > 60
        }
        const used = [...groupBy, ...Object.keys(filters)]
        const isOfAgents = used.includes('agent')
        const isOfSkills = used.some((name) => ['skill', 'version', 'arm'].includes(name))
        const grain = { rows: 1, hours: hourMs, days: 24 * hourMs }[nameOfSource(plan.source)]
        return (
          plan.window.from <= window.from &&
          plan.window.to >= window.to &&
          plan.window.to.getTime() - plan.window.from.getTime() < minutes * 60_000 + 2 * grain &&
          (plan.source !== 'rows' || minutes <= 61 || (minutes <= 24 * 60 + 1 && ('skill' in filters || 'agent' in filters))) &&
          (plan.source === 'rows' || plan.source.startsWith(isOfAgents ? 'agent' : isOfSkills ? 'call' : 'total')) &&
          (!(isOfAgents && isOfSkills) || plan.source === 'rows' || (plan.source === 'agent_skill_days' && !used.includes('arm'))) &&
          (interval !== 'hour' || nameOfSource(plan.source) !== 'days') &&
          (interval !== 'minute' || plan.source === 'rows')
        )
      })
      expect(refused).toBeGreaterThan(0)
    },
    patienceMs,
  )
})
