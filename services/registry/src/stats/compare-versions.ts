import type { CompareQuery, Comparison } from '@repertoire/contract'
import {
  absent,
  compareArms,
  isUuid,
  leastUnits,
  nameKey,
  owns,
  readWindow,
  Refusal,
  requireReading,
  seesEverything,
  type Caller,
} from '@repertoire/core'
import type { CountedSide, CountedSides } from '../counted.ts'
import type { Deps } from '../ports.ts'
import { wholeDays } from './whole-days.ts'

/** Two versions side by side: the arms of a rollout, or what agents met who called one or the other. */
export async function compareVersions(deps: Deps, caller: Caller, query: CompareQuery): Promise<Comparison> {
  const { rollout, skill, a, b } = query
  if (
    rollout !== undefined &&
    skill === undefined &&
    a === undefined &&
    b === undefined &&
    query.from === undefined &&
    query.to === undefined
  )
    return compareRollout(deps, caller, rollout)
  if (rollout !== undefined || skill === undefined || a === undefined || b === undefined || a === b)
    throw new Refusal('INVALID_REQUEST', 'A comparison is of a rollout, or of a skill and two versions of it.', {
      hint: 'give rollout alone, or skill, a and b',
      details: [{ path: rollout === undefined ? '/skill' : '/rollout', rule: 'comparison' }],
    })
  const record = deps.snapshot().skills.get(nameKey(skill))
  requireReading(caller, record)
  if (record === undefined) throw absent(skill)
  const window = wholeDays(readWindow(query, deps.clock.now().getTime()))
  const sides = await deps.counts.versions({ skill: record.name, a, b, window })
  return show(sides, { by: 'versions', randomised: false, skill: record.name, rolloutId: null })
}

async function compareRollout(deps: Deps, caller: Caller, id: string): Promise<Comparison> {
  if (!seesEverything(caller) && caller.role !== 'publisher') requireReading(caller, undefined)
  const stored = isUuid(id) ? await deps.store.rollout(id.toLowerCase()) : undefined
  const record = stored === undefined ? undefined : deps.snapshot().skills.get(nameKey(stored.skill))
  if (stored === undefined || record === undefined || !(seesEverything(caller) || owns(caller, record)))
    throw new Refusal('NOT_FOUND', `There is no rollout ${id.slice(0, 64)}.`, { hint: 'list the rollouts to find its id' })
  const sides = await deps.counts.arms(stored.rollout.id)
  const versions = { a: stored.rollout.previousStable, b: stored.rollout.candidate }
  const named: CountedSides = {
    ...sides,
    unit: stored.rollout.unit,
    a: { ...sides.a, version: sides.a.version ?? versions.a },
    b: { ...sides.b, version: sides.b.version ?? versions.b },
  }
  return show(named, { by: 'rollout', randomised: true, skill: stored.skill, rolloutId: stored.rollout.id })
}

function show(
  { unit, a, b, unitsInBoth }: CountedSides,
  about: { readonly by: 'rollout' | 'versions'; readonly randomised: boolean; readonly skill: string; readonly rolloutId: string | null },
): Comparison {
  const { failureRate, meanMs } = compareArms(a, b)
  return {
    by: about.by,
    randomised: about.randomised,
    unit,
    skill: about.skill,
    rollout_id: about.rolloutId,
    a: showSide(a),
    b: showSide(b),
    units_in_both: unitsInBoth,
    failure_rate: failureRate,
    mean_ms: meanMs,
    confidence: 0.95,
    least_units: leastUnits,
  }
}

function showSide({ version, arm, units, calls, failures, failureRate, meanMs }: CountedSide): Comparison['a'] {
  return { version, arm, units, calls, failures, failure_rate: failureRate, mean_ms: meanMs }
}
