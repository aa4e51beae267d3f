import {
  applyPlan,
  changesAnything,
  isActive,
  planPromote,
  planRollback,
  planSetPercent,
  planUnyank,
  planYank,
  Refusal,
  type Plan,
} from '@repertoire/core'
import fc from 'fast-check'
import { compare } from 'semver'
import { describe, expect, it } from 'vitest'
import { check, patienceMs } from './check-property.ts'
import {
  agents,
  anyMachine,
  anyMove,
  carryOut,
  everyOutcome,
  exposure,
  facts,
  movedMachine,
  only,
  outcome,
  ranges,
  take,
  type Machine,
} from './rollout-machine.ts'

const order = { by: 'test', at: '2026-02-01T00:00:00.000Z', reason: 'a test orders it' }
const points = fc.nat(10_000)

describe('a rollout', { timeout: patienceMs }, () => {
  it('leaves every skill in order: one active rollout a line, of a candidate, and lines that serve what ranges may get', () => {
    check([movedMachine()], ({ skill }) => {
      const active = skill.rollouts.filter(isActive)
      return (
        new Set(active.map(({ line }) => line)).size === active.length &&
        active.every(({ candidate }) => skill.byVersion.get(candidate)?.status === 'candidate') &&
        [...skill.stable.values()].every(({ status }) => status === 'released' || status === 'deprecated') &&
        [...skill.stable].every(([line, version]) => version.line === line && version.semver.prerelease.length === 0)
      )
    })
  })
  it('moves units only to or from its candidate when its percentage changes, whatever runs beside it on other lines', () => {
    check([movedMachine(), points, fc.nat()], (machine, basisPoints, pick) => {
      const rollout = machine.skill.rollouts[pick % Math.max(1, machine.skill.rollouts.length)]
      if (rollout === undefined || rollout.state === 'paused') return true
      const after = applyPlan(machine.skill, planSetPercent(facts(machine), rollout, { basisPoints, order }))
      for (const context of agents) {
        for (const range of ranges) {
          const [from, to] = [outcome(machine.skill, range, context), outcome(after, range, context)]
          if (from !== to && from !== `${rollout.candidate} canary` && to !== `${rollout.candidate} canary`) return false
        }
      }
      return true
    })
  })
  it('can be rolled back in every state, and then no range of anybody gives its candidate', () => {
    check([movedMachine(), fc.boolean()], (moved, isBack) => {
      const wrong = moved.rollouts.filter((rollout) => {
        const { candidate, line, state } = rollout
        const machine = isBack ? yankedAndBack(moved, candidate) : moved
        const plan = attempt(() => planRollback(facts(machine), rollout, order))
        if (plan instanceof Refusal) {
          const isNewer = compare(machine.skill.stable.get(line)?.version ?? '0.0.0', candidate) > 0
          return plan.code !== 'ILLEGAL_TRANSITION' || state !== 'promoted' || !isNewer
        }
        if (state === 'rolled_back' || state === 'cancelled') return changesAnything(plan)
        const asked = ['*', '>=0.1 <3', `^${candidate}`, `~${candidate}`, only(candidate)]
        return exposure(applyPlan(machine.skill, plan), candidate, asked).length > 0
      })
      expect(wrong).toEqual([])
    })
  })
  it('never gives its candidate to anybody more by being rolled back', () => {
    check([anyMachine, fc.array(anyMove, { maxLength: 24, size: 'max' })], (start, moves) => {
      moves.reduce((machine, move) => {
        const next = take(machine, move)
        if (move.command !== 'rollback') return next.machine
        for (const { candidate } of next.plan.rollouts.filter(({ state }) => state === 'rolled_back')) {
          const before = new Set(exposure(machine.skill, candidate).map(whoAndRange))
          expect(exposure(next.machine.skill, candidate).filter((line) => !before.has(whoAndRange(line)))).toEqual([])
        }
        return next.machine
      }, start)
    })
  })
  it('that was started and rolled back is as if it had never been started, for ranges', () => {
    check([movedMachine(), anyMove], (machine, move) => {
      const started = take(machine, { ...move, command: 'start', steps: [], inMinutes: 0 })
      const rollout = started.plan.rollouts[0]
      if (rollout === undefined) return true
      const back = carryOut(started.machine, (at) => planRollback(facts(started.machine), rollout, at)).machine
      return everyOutcome(back.skill).join() === everyOutcome(machine.skill).join()
    })
  })
  it('at 100 % gives what its promotion gives, to all who hold its tags and are not denied', () => {
    check([movedMachine(), anyMove], (machine, move) => {
      const all = take(machine, { ...move, command: 'start', basisPoints: 10_000, deny: [], inMinutes: 0 })
      const rollout = all.plan.rollouts[0]
      if (rollout === undefined || hidesReleased(machine, rollout.candidate)) return true
      const promoted = carryOut(all.machine, (at) => planPromote(facts(all.machine), rollout, at))
      expect(promoted.refused).toBeUndefined()
      return agents
        .filter(({ agentId }) => agentId !== 'poor')
        .every((context) =>
          ranges.every(
            (range) => versionIn(outcome(promoted.machine.skill, range, context)) === versionIn(outcome(all.machine.skill, range, context)),
          ),
        )
    })
  })
})

function attempt(planned: () => Plan): Plan | Refusal {
  try {
    return planned()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

// An unyanked version above its line's stable comes back under a ceiling that rises above it: that is not the canary's doing.
function hidesReleased({ skill }: Machine, candidate: string): boolean {
  const line = skill.byVersion.get(candidate)?.line
  const stable = skill.stable.get(line ?? '')
  return skill.versions.some(
    (one) =>
      one.line === line &&
      (one.status === 'released' || one.status === 'deprecated') &&
      (stable === undefined || compare(one.version, stable.version) > 0),
  )
}

// Somebody withdrew it and took that back: it lies above what its line serves by now.
function yankedAndBack(machine: Machine, version: string): Machine {
  const yanked = carryOut(machine, (at) => planYank(facts(machine), { version }, at)).machine
  return carryOut(yanked, (at) => planUnyank(facts(yanked), version, at)).machine
}

const whoAndRange = (line: string): string => line.slice(0, line.indexOf(': '))
const versionIn = (text: string): string => text.split(' ')[0] ?? ''
