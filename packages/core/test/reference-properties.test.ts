import {
  applyChanges,
  emptySnapshot,
  honourExpected,
  parseRange,
  Refusal,
  resolve,
  tryResolve,
  type Changes,
  type ResolveContext,
  type Resolved,
  type SkillRecord,
  type VersionRecord,
} from '@repertoire/core'
import fc from 'fast-check'
import { satisfies } from 'semver'
import { describe, expect, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'
import { isServed, naiveExposure, naiveResolve } from './naive-resolver.ts'
import { agents, anyMachine, anyMove, movedMachine, ranges, take, type Taken } from './rollout-machine.ts'
import { changesAt } from './skill-fixture.ts'

const pins = ['1.0.0', '=v1.2.0', '1.3.0', 'v2.0.0', '1.4.0-rc.1', '3.0.0']
const asker = fc
  .tuple(fc.constantFrom(...agents), fc.boolean(), fc.constantFrom(null, 'authors'), fc.boolean())
  .map(([agent, pinsCandidates, team, isUnconfirmed]): ResolveContext => ({ ...agent, pinsCandidates, team, isUnconfirmed }))
const asked = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...ranges, ' latest ') }, fc.constantFrom(...pins)), {
  minLength: 1,
  maxLength: 3,
})
const question = fc.tuple(asked, asker)

describe('the resolver', { timeout: patienceMs }, () => {
  it('answers any question about any skill: with a version, or with a refusal that it knows', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[\^~<>=v 0-9.x*|&-]{0,40}$/), fc.constantFrom(...ranges, ...pins))
    const unit = fc.option(fc.string(), { nil: undefined })
    check([movedMachine(8), fc.array(text, { maxLength: 3 }), fc.string(), unit], ({ skill }, texts, agentId, session) => {
      const units = { agent: agentId, ...(session === undefined ? {} : { session }) }
      try {
        const context = { agentId, team: agentId, pinsCandidates: agentId.length > 3, holds: () => agentId.length > 1, units }
        return skill.versions.includes(resolve(skill, texts.map(parseRange), context).version)
      } catch (error) {
        if (!(error instanceof Refusal)) throw error
        return ['INVALID_RANGE', 'NO_MATCHING_VERSION', 'VERSION_NOT_FOUND', 'VERSION_WITHDRAWN'].includes(error.code)
      }
    })
  })
  it('answers like the rule taken literally, before and after every change, whatever it remembers', () => {
    const round = fc.tuple(anyMove, fc.array(question, { minLength: 3, maxLength: 6 }))
    check([anyMachine, fc.array(round, { minLength: 1, maxLength: 8, size: 'max' })], (start, rounds) => {
      let machine = start
      let snapshot = applyChanges(emptySnapshot, changesAt(1, rowsOf(start.skill)))
      for (const [move, questions] of rounds) {
        const next = take(machine, move)
        snapshot = applyChanges(snapshot, changesAt(snapshot.revision + 1, changedRows(machine.skill, next)))
        machine = next.machine
        for (const [texts, context] of questions) {
          const expected = naiveResolve(machine.skill, texts, context)
          const [served] = snapshot.ordered
          const answers = [say(machine.skill, texts, context), served === undefined ? 'no skill' : say(served, texts, context)]
          expect(answers.join()).toBe(`${expected},${expected}`)
        }
      }
    })
  })
})

describe('an expected version', { timeout: patienceMs }, () => {
  it('is run when the rule lets it be served to this unit, and refused otherwise', () => {
    check([movedMachine(), question], ({ skill }, [texts, context]) => {
      const parsed = texts.map(parseRange)
      const resolved = tryResolve(skill, parsed, context)
      if (typeof resolved === 'function') return true
      const others = skill.versions.filter((version) => version !== resolved.version)
      return others.every((expected) => {
        const honoured = attempt(() => honourExpected(skill, { version: expected.version, ranges: parsed, resolved }, context))
        const isRight = isServable(skill, expected, { texts, context })
        if (honoured instanceof Refusal) return honoured.code === 'VERSION_CHANGED' && !isRight
        const isWithdrawn = expected.status === 'yanked' || expected.status === 'blocked'
        return isRight && !isWithdrawn && honoured.version === expected && honoured.via === 'session' && honoured.coin === null
      })
    })
  })
})

type Asked = { readonly texts: readonly string[]; readonly context: ResolveContext }

function isServable(skill: SkillRecord, version: VersionRecord, { texts, context }: Asked): boolean {
  const isInside = texts.every((text) => satisfies(version.version, text.trim() === 'latest' ? '*' : text))
  if (!isInside || !context.holds(version)) return false
  const rollout = skill.rollouts.find(({ candidate, startedAt }) => candidate === version.version && startedAt !== null)
  if (version.status !== 'candidate' || rollout === undefined) return isServed(skill, version)
  return context.isUnconfirmed !== true && ['allow', 'all', 'inside'].includes(naiveExposure(rollout, version, context))
}

function say(skill: SkillRecord, texts: readonly string[], context: ResolveContext): string {
  const answer = attempt(() => resolve(skill, texts.map(parseRange), context))
  if (answer instanceof Refusal) return answer.code
  return [answer.version.version, answer.via, answer.rolloutId ?? '-', ...answer.warnings.map(({ code }) => code)].join(' ')
}

function attempt(asked: () => Resolved): Resolved | Refusal {
  try {
    return asked()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function rowsOf(skill: SkillRecord): Partial<Changes> {
  const lines = [...skill.stable].map(([line, { version }]) => ({ skillId: skill.id, line, stable: version }))
  return { skills: [skill], versions: skill.versions, lines, rollouts: skill.rollouts }
}

// A plan as the rows that a transaction would have written.
function changedRows(before: SkillRecord, { machine, plan }: Taken): Partial<Changes> {
  const named = new Set(plan.versions.map(({ version }) => version))
  return {
    versions: machine.skill.versions.filter(({ version }) => named.has(version) || !before.byVersion.has(version)),
    lines: plan.lines.map((line) => ({ skillId: before.id, ...line })),
    rollouts: plan.rollouts,
  }
}
