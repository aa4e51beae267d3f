import { assembleSkill, changesAnything, type SkillRecord } from '@repertoire/core'
import fc from 'fast-check'
import { compare } from 'semver'
import { describe, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'
import {
  agents,
  anyMachine,
  anyMove,
  everyOutcome,
  isReached,
  movedMachine,
  only,
  outcome,
  ranges,
  rolloutFor,
  take,
  versionFor,
  type Machine,
  type Move,
} from './rollout-machine.ts'

describe('the versions of a skill', { timeout: patienceMs }, () => {
  it('come back by no range after a rollback or revert, whatever is done to the others', () => {
    check([anyMachine, fc.array(anyMove, { maxLength: 30, size: 'max' })], (start, moves) => {
      let machine = start
      const withdrawn = new Set<string>()
      for (const move of moves) {
        const next = take(machine, move)
        if (!changesAnything(next.plan)) continue
        for (const version of steppedBackFrom(machine, move)) withdrawn.add(version)
        if (move.command === 'unyank') withdrawn.delete(versionFor(machine, move))
        machine = next.machine
        if ([...withdrawn].some((version) => isReached(next.machine.skill, version))) return false
      }
      return true
    })
  })
  it('of one line answer its ranges as if the other lines were not there', () => {
    check([movedMachine(16)], ({ skill }) => {
      for (const line of new Set(skill.versions.map((version) => version.line))) {
        const asked = [`^${line}`, ...skill.versions.filter((version) => version.line === line).map(({ version }) => only(version))]
        if (everyOutcome(skill, asked).join() !== everyOutcome(onlyLine(skill, line), asked).join()) return false
      }
      return true
    })
  })
  it('are served to ranges as stable only up to what their line serves', () => {
    const isBelow = (skill: SkillRecord, answer: string): boolean => {
      const [version = '', via] = answer.split(' ')
      const stable = skill.stable.get(skill.byVersion.get(version)?.line ?? '')?.version
      return via !== 'stable' || (stable !== undefined && compare(version, stable) <= 0)
    }
    check([movedMachine()], ({ skill }) =>
      agents.every((context) => ranges.every((range) => isBelow(skill, outcome(skill, range, context)))),
    )
  })
})

// What somebody steps back from must stay away: the candidate, and what ranges gave above the version that is served again.
function steppedBackFrom(machine: Machine, move: Move): readonly string[] {
  const { skill } = machine
  if (move.command === 'rollback') {
    const rollout = rolloutFor(machine, move)
    return rollout === undefined ? [] : [rollout.candidate]
  }
  if (move.command !== 'revert') return []
  const to = versionFor(machine, move)
  const line = skill.byVersion.get(to)?.line
  const candidates = new Set(skill.rollouts.map(({ candidate }) => candidate))
  return skill.versions
    .filter((one) => one.line === line && compare(one.version, to) > 0)
    .filter((one) => candidates.has(one.version) || one.status === 'released' || one.status === 'deprecated')
    .filter((one) => one.semver.prerelease.length === 0)
    .map(({ version }) => version)
}

function onlyLine(skill: SkillRecord, line: string): SkillRecord {
  const stable = skill.stable.get(line)?.version ?? null
  return assembleSkill(skill, undefined, {
    versions: skill.versions.filter((version) => version.line === line),
    lines: [{ skillId: skill.id, line, stable }],
    rollouts: skill.rollouts.filter((rollout) => rollout.line === line),
  })
}
