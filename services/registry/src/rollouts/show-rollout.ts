import type { LineChanged, Rollout, RolloutChanged } from '@repertoire/contract'
import { legalCommands, nextMoveAt, parseExact, type RolloutRecord } from '@repertoire/core'
import type { CarriedOut } from './carry-out.ts'
import { writeDuration } from './duration.ts'

/** A rollout as its readers see it. */
export function showRollout(skill: string, rollout: RolloutRecord): Rollout {
  return {
    id: rollout.id,
    skill,
    line: rollout.line,
    version: rollout.candidate,
    previous_stable: rollout.previousStable,
    state: rollout.state,
    paused_reason: rollout.pausedReason,
    paused_note: rollout.pausedNote,
    percent: rollout.basisPoints / 100,
    unit: rollout.unit,
    allow: [...rollout.allow],
    deny: [...rollout.deny],
    steps: rollout.steps.map(({ basisPoints, dwellMs }) => ({ percent: basisPoints / 100, dwell: writeDuration(dwellMs) })),
    step: rollout.stepIndex + 1,
    next_move_at: nextMoveAt(rollout) ?? null,
    start_at: rollout.startAt,
    started_at: rollout.startedAt,
    reason: rollout.reason,
    created_by: rollout.createdBy,
    created_at: rollout.createdAt,
    updated_at: rollout.updatedAt,
    ended_at: rollout.endedAt,
    possible: [...legalCommands(rollout)],
  }
}

/** What a command on a rollout answers. */
export function showRolloutChanged(done: CarriedOut, rollout: RolloutRecord): RolloutChanged {
  const pointer = done.plan.lines.find(({ line }) => line === rollout.line)
  const stable = pointer === undefined ? (done.facts.stable.get(rollout.line) ?? null) : pointer.stable
  return { ...showRollout(done.skill.name, rollout), stable, changed: done.changed, revision: done.revision, ...propagationOf(done) }
}

/** What a command on a version or a line answers. */
export function showLineChanged(done: CarriedOut, version: string): LineChanged {
  const found = done.facts.versions.find((known) => known.version === version)
  const line = found?.line ?? ''
  const before = done.facts.stable.get(line) ?? null
  const pointer = done.plan.lines.find((change) => change.line === line)
  return {
    name: done.skill.name,
    line,
    version,
    status: done.plan.versions.find((change) => change.version === version)?.status ?? found?.status ?? 'candidate',
    stable: pointer === undefined ? before : pointer.stable,
    previous_stable: before,
    yanked: done.plan.versions
      .filter((change) => change.status === 'yanked' && change.version !== version)
      .map((change) => change.version)
      .sort((a, b) => parseExact(a)?.compare(b) ?? 0),
    rollouts: done.plan.rollouts.map(({ id }) => id),
    changed: done.changed,
    revision: done.revision,
    ...propagationOf(done),
  }
}

function propagationOf({ propagation }: CarriedOut): Partial<Pick<LineChanged, 'applied' | 'lagging' | 'unreachable'>> {
  if (propagation === undefined) return {}
  return { applied: [...propagation.applied], lagging: [...propagation.lagging], unreachable: [...propagation.unreachable] }
}
