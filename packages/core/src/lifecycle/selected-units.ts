import { bucketOf } from '../bucket.ts'
import { matchRanges } from '../match-ranges.ts'
import { permit } from '../permit.ts'
import type { RolloutRecord, SkillRecord } from '../records.ts'
import { Refusal } from '../refusal.ts'
import type { Requester } from './preview.ts'

/** Whom a rollout could reach and whom it does: null where the units are sessions or calls, which nobody can count beforehand. */
export type Selection = { readonly population: number; readonly selected: number | null; readonly buckets: readonly number[] }

/** Counts the units of a rollout: agents (or tenants) that may call the candidate and whose range it would satisfy best. */
export function countUnits(
  after: SkillRecord,
  rollout: RolloutRecord,
  { requesters, nowMs }: { readonly requesters: readonly Requester[]; readonly nowMs: number },
): Selection {
  const candidate = after.byVersion.get(rollout.candidate)
  if (candidate === undefined) return { population: 0, selected: 0, buckets: [] }
  const asIfBegun = { ...after, exposed: candidate.status === 'candidate' ? [{ rollout, candidate }] : [] }
  const within = requesters.filter(
    ({ agent, ranges }) =>
      permit(agent.grants, candidate.manifest.permission, nowMs).allow &&
      !rollout.deny.includes(agent.id) &&
      ranges.every((range) => range.pin === undefined) &&
      // It has to win: whoever takes any version gets the newest line, and never a candidate below it.
      matchRanges(asIfBegun, ranges).contenders.length > 0,
  )
  if (rollout.unit === 'session' || rollout.unit === 'call')
    return { population: new Set(within.map(({ agent }) => agent.id)).size, selected: null, buckets: [] }
  const allowed = new Set(within.filter(({ agent }) => rollout.allow.includes(agent.id)).map(({ agent }) => agent.id))
  const units = new Set(
    within.flatMap(({ agent }) => (rollout.unit === 'agent' ? [agent.id] : agent.tenant === null ? [] : [agent.tenant])),
  )
  const buckets = new Map([...units].map((unit) => [unit, bucketOf(rollout.salt, rollout.unit, unit)]))
  const chosen = [...buckets].filter(([, bucket]) => bucket < rollout.basisPoints).map(([unit]) => unit)
  const selected = rollout.unit === 'agent' ? new Set([...chosen, ...allowed]).size : chosen.length
  return { population: units.size, selected, buckets: [...buckets.values()].sort((a, b) => a - b) }
}

/** Refuses a start that would reach nobody, with the arithmetic. */
export function requireUnits(skill: SkillRecord, rollout: RolloutRecord, selection: Selection): void {
  const points = Math.max(rollout.basisPoints, 0)
  if (rollout.unit !== 'agent' || points === 0 || rollout.allow.length > 0 || selection.selected !== 0) return
  const percent = points / 100
  const { population, buckets } = selection
  if (population === 0) {
    throw new Refusal(
      'NO_UNITS',
      `No enabled agent may call ${skill.name} ${rollout.candidate} with a range that would choose it: ${percent} % of 0 agents is nobody.`,
      {
        hint: 'grant its tags to an agent, name agents in allow, or insist with force',
        details: [{ rule: 'units', expected: 'at least 1 agent', got: '0' }],
      },
    )
  }
  const lowest = buckets[0] ?? 0
  const chance = Math.round((1 - points / 10_000) ** population * 100)
  throw new Refusal(
    'NO_UNITS',
    `${percent} % of ${population} ${population === 1 ? 'agent' : 'agents'} selects nobody: it takes buckets below ${points} of 10000, and the lowest among them is ${lowest}. With ${population} that happens ${chance} % of the time.`,
    {
      hint: `start with ${(lowest + 1) / 100} % or more, name agents in allow, use another unit, or insist with force`,
      details: [{ rule: 'units', expected: `a percentage of at least ${(lowest + 1) / 100}`, got: String(percent) }],
    },
  )
}
