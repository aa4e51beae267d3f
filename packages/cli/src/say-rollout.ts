import type { Rollout } from '@repertoire/sdk'
import { sayTime, saySpan } from './say-time.ts'
import { layoutPairs, layoutTable } from './table.ts'

/** Whom a rollout exposes, in words. */
export function sayShare({ percent, unit }: Pick<Rollout, 'percent' | 'unit'>): string {
  return `${percent} % of ${unit}s`
}

/** Says rollouts as a table, in the order they have. */
export function sayRollouts(rollouts: readonly Rollout[], width: number | undefined): string {
  return layoutTable(
    {
      head: ['ROLLOUT', 'SKILL', 'LINE', 'STATE', 'SHARE', 'NEXT MOVE (UTC)', 'REASON'],
      rows: rollouts.map((rollout) => [
        rollout.id,
        `${rollout.skill}@${rollout.version}`,
        rollout.line,
        sayState(rollout),
        sayShare(rollout),
        rollout.next_move_at === null ? '' : sayTime(rollout.next_move_at, ''),
        rollout.reason,
      ]),
    },
    width,
  )
}

/** Says one rollout: where it stands, what it does next by itself, and what may be done with it. */
export function sayRollout(rollout: Rollout, nowMs: number): string {
  const { started_at: startedAt, ended_at: endedAt } = rollout
  return layoutPairs([
    ['rollout', rollout.id],
    ['skill', `${rollout.skill} ${rollout.version}`],
    ['line', `${rollout.line}, which served ${rollout.previous_stable ?? 'nothing'} before`],
    ['state', sayState(rollout)],
    ['why paused', rollout.paused_note ?? undefined],
    ['share', sayShare(rollout)],
    ['always', rollout.allow.join(', ')],
    ['never', rollout.deny.join(', ')],
    ['steps', saySteps(rollout)],
    ['next move', sayNextMove(rollout, nowMs)],
    ['reason', rollout.reason],
    ['created', `${sayTime(rollout.created_at)} by ${rollout.created_by}`],
    ['exposed', startedAt === null ? 'nobody yet' : `since ${sayTime(startedAt)}`],
    ['ended', endedAt === null ? undefined : sayTime(endedAt)],
    ['possible now', rollout.possible.length === 0 ? 'nothing more' : rollout.possible.join(', ')],
  ])
}

function sayState({ state, paused_reason: why }: Rollout): string {
  return `${state.replace('_', ' ')}${why === null ? '' : ` (${why})`}`
}

// The registry counts steps from one, and none is in force before the first.
function saySteps({ steps, step }: Rollout): string {
  return steps
    .map(({ percent, dwell }, index) => `${percent} %${dwell === '0s' ? '' : ` for ${dwell}`}${index + 1 === step ? ' (in force)' : ''}`)
    .join(', then ')
}

function sayNextMove(rollout: Rollout, nowMs: number): string | undefined {
  const { state, next_move_at: at, steps, step } = rollout
  if (at === null) return state === 'running' || state === 'paused' ? 'none by itself' : undefined
  const to = state === 'scheduled' ? rollout.percent : (steps[step]?.percent ?? rollout.percent)
  const leftMs = Date.parse(at) - nowMs
  return `to ${to} % at ${sayTime(at)}, ${leftMs <= 0 ? 'which is due' : `in ${saySpan(leftMs)}`}`
}
