import type { ParsedRange } from './range.ts'
import type { SkillRecord, VersionRecord } from './records.ts'
import { Refusal } from './refusal.ts'
import { bucketOf } from './bucket.ts'
import { isExposing, isServedByRange } from './match-ranges.ts'
import { mayPin } from './may-pin.ts'
import { deprecation, type ResolveContext, type Resolved } from './resolve.ts'

/** What the caller expects, from an earlier read of the skill. */
export type Expectation = { readonly version: string; readonly ranges: readonly ParsedRange[]; readonly resolved: Resolved }

/** Serves the version the caller read about when its schema is unchanged or it is still servable; else refuses with VERSION_CHANGED. */
export function honourExpected(skill: SkillRecord, expected: Expectation, context: ResolveContext): Resolved {
  const { resolved } = expected
  if (resolved.version.version === expected.version) return resolved
  const version = skill.byVersion.get(expected.version)
  // Whether there is a candidate is nobody's to find out by guessing.
  const isKnown = version !== undefined && (mayPin(skill, version, context) || inActiveCohort(skill, version, context))
  if (isKnown && version.schemaDigest === resolved.version.schemaDigest) return resolved
  const inRange =
    version !== undefined && expected.ranges.every((range) => range.pin?.version === version.version || range.range.test(version.semver))
  // Who was admitted to the resolved version was not asked for the tags of this one.
  const isPermitted = version !== undefined && inRange && context.holds(version)
  if (isPermitted && (isServedByRange(skill, version) || inActiveCohort(skill, version, context))) {
    const warnings = resolved.warnings.filter(({ code }) => code !== 'deprecated')
    if (version.status === 'deprecated') warnings.push(deprecation(skill, version))
    return { version, via: 'session', coin: null, rolloutId: null, warnings }
  }
  throw new Refusal('VERSION_CHANGED', `${skill.name} is now ${resolved.version.version}; ${expected.version} cannot be served.`, {
    hint: 'read the skill again and retry once',
    details: [
      { path: '/expect_version', expected: resolved.version.version, got: expected.version, message: resolved.version.inputSchema },
    ],
  })
}

function inActiveCohort(skill: SkillRecord, candidate: VersionRecord, context: ResolveContext): boolean {
  const rollout = skill.rollouts.find((active) => active.candidate === candidate.version)
  if (rollout === undefined || !isExposing(rollout, candidate) || context.isUnconfirmed === true) return false
  if (rollout.deny.includes(context.agentId)) return false
  if (rollout.allow.includes(context.agentId) || rollout.basisPoints >= 10_000) return true
  const unit = context.units[rollout.unit]
  return unit !== undefined && unit !== '' && bucketOf(rollout.salt, rollout.unit, unit) < rollout.basisPoints
}
