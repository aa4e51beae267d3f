import type { RetryBudget } from '../ports.ts'

const perCall = 0.1
const most = 10
const mostSkills = 10_000

/** Budgets by skill: every ten calls earn one retry, and at most ten are saved up. A skill that was not called yet has them all. */
export function createRetryBudget(): (skill: string) => RetryBudget {
  const left = new Map<string, number>()
  return (skill) => ({
    earn: () => {
      const now = Math.min(most, (left.get(skill) ?? most) + perCall)
      left.delete(skill)
      left.set(skill, now)
      // The skill that was called longest ago goes first.
      const [oldest] = left.keys()
      if (left.size > mostSkills && oldest !== undefined) left.delete(oldest)
    },
    spend: () => {
      const now = left.get(skill) ?? most
      if (now < 1) return false
      left.set(skill, now - 1)
      return true
    },
  })
}
