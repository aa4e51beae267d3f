import { firstAllowance, heldAllowance, loneAllowance, nextAllowance, windowAt } from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'

/** Replicas that share one limit, as the registry's do: each knows its own calls, and hears of the others when it asks. */
type Replica = { spent: number; told: number; allowance: number; reserved: number; left: number; hasAsked: boolean }

function model(limit: number, count: number): { replicas: Replica[]; spend: (at: number) => boolean; ask: (at: number) => () => void } {
  const replicas = Array.from({ length: count }, () => ({
    spent: 0,
    told: 0,
    allowance: firstAllowance(limit, count),
    reserved: 0,
    left: limit,
    hasAsked: false,
  }))
  const at = (index: number): Replica => replicas[index % count] as Replica
  return {
    replicas,
    spend: (index) => {
      const replica = at(index)
      if (replica.spent >= replica.allowance) return false
      replica.spent += 1
      return true
    },
    // Asking takes its time: calls go on while the answer is on its way.
    ask: (index) => {
      const replica = at(index)
      const share = { limit, replicas: count, spent: replica.spent, recent: replica.spent - replica.told, allowance: replica.allowance }
      if (replica.hasAsked) replica.allowance = heldAllowance(share, replica.left)
      const held = { ...share, allowance: replica.allowance }
      const taken = replicas.reduce((sum, other) => (other === replica ? sum : sum + other.reserved), 0)
      replica.reserved = nextAllowance(replica.hasAsked ? held : { ...held, allowance: held.spent }, taken)
      const next = replica.reserved
      return () => {
        replica.told = share.spent
        replica.left = Math.max(0, limit - share.spent - taken)
        replica.allowance = next
        replica.hasAsked = true
      }
    },
  }
}

const limits = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 5000 }))
const counts = fc.integer({ min: 1, max: 8 })
const total = (replicas: readonly Replica[]): number => replicas.reduce((sum, { spent }) => sum + spent, 0)

describe('a limit that replicas share', () => {
  it(
    'is never exceeded by more than one share, or one call a replica where it is tiny, whoever asks when',
    () => {
      const steps = fc.array(
        fc.record({ at: fc.nat(7), calls: fc.oneof(fc.nat(3), fc.nat(3000)), asks: fc.boolean(), during: fc.nat(50) }),
        {
          maxLength: 60,
        },
      )
      check([limits, counts, steps], (limit, count, taken) => {
        const { replicas, spend, ask } = model(limit, count)
        for (const { at, calls, asks, during } of taken) {
          for (let index = 0; index < calls && spend(at); index += 1);
          if (!asks) continue
          const answered = ask(at)
          for (let index = 0; index < during; index += 1) if (!spend(at + index)) spend(at)
          answered()
        }
        const share = Math.max(count - 1, Math.ceil(limit / count))
        expect(total(replicas)).toBeLessThanOrEqual(count === 1 ? limit : limit + share)
      })
    },
    patienceMs,
  )
  it(
    'is reached: one replica alone comes to it within a few rounds, but for what the others rest on',
    () => {
      check([limits, counts, fc.array(fc.nat(40), { maxLength: 8 })], (limit, count, before) => {
        const { replicas, spend, ask } = model(limit, count)
        for (const [at, calls] of before.entries()) for (let index = 0; index < calls; index += 1) spend(at)
        for (let round = 0; round < 60; round += 1) {
          while (spend(0));
          for (const [at, replica] of replicas.entries()) if (at === 0 || replica.spent > 0) ask(at)()
        }
        while (spend(0));
        expect(total(replicas)).toBeGreaterThanOrEqual(Math.min(limit, limit - 2 * (count - 1)))
      })
    },
    patienceMs,
  )
  it(
    'is kept by all together while nobody can be asked',
    () => {
      check([limits, counts], (limit, count) => {
        expect(loneAllowance(limit, count) * count).toBeLessThanOrEqual(Math.max(limit, count))
      })
    },
    patienceMs,
  )
  it('is counted over minutes and days of UTC', () => {
    const at = Date.parse('2026-03-01T23:59:59.999Z')
    expect(windowAt('minute', at)).toEqual({ start: Date.parse('2026-03-01T23:59:00Z'), end: Date.parse('2026-03-02T00:00:00Z') })
    expect(windowAt('day', at + 1).start).toBe(Date.parse('2026-03-02T00:00:00Z'))
  })
})
