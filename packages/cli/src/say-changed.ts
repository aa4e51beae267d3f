import type { LineChanged, RolloutChanged } from '@repertoire/sdk'
import { safeLine } from './safe-text.ts'
import { sayShare } from './say-rollout.ts'
import { sayTime } from './say-time.ts'

/** Says what became of a version and its line, and of what went along with it. */
export function sayVersionChanged(data: LineChanged): string {
  const { name, version, status, changed } = data
  const noun = status === 'candidate' ? 'a candidate' : status
  return sayLines([`${name} ${version} ${changed ? `is ${noun} now` : `was ${noun} already`}; ${serves(data)}`, ...alongWith(data)])
}

/** Says what a line serves after a revert, and what was withdrawn for it. */
export function sayLineReverted(data: LineChanged): string {
  const head = data.changed ? `${data.name}: ${serves(data)}` : `nothing to revert: ${serves(data)} of ${data.name}`
  return sayLines([head, ...alongWith(data)])
}

/** Says where a rollout stands after a command. */
export function sayRolloutChanged(data: RolloutChanged): string {
  const { id, skill, version, changed } = data
  return sayLines([
    changed ? `${skill} ${version} ${standing(data)}` : `nothing changed: the rollout of ${skill} ${version} ${standsAlready(data)}`,
    `rollout ${id}`,
  ])
}

function serves({ line, stable, previous_stable: before }: Pick<LineChanged, 'line' | 'stable' | 'previous_stable'>): string {
  return `line ${line} serves ${stable ?? 'nothing'}${before === null || before === stable ? '' : ` (before: ${before})`}`
}

function alongWith({ yanked, rollouts }: LineChanged): string[] {
  return [
    ...(yanked.length === 0 ? [] : [`yanked along with it: ${yanked.join(', ')}`]),
    ...(rollouts.length === 0 ? [] : [`rollouts that ended or are held now: ${rollouts.join(', ')}`]),
  ]
}

function standing(rollout: RolloutChanged): string {
  const { state, start_at: startAt } = rollout
  switch (state) {
    case 'scheduled':
      return `goes to ${sayShare(rollout)} from ${startAt === null ? 'later' : sayTime(startAt)} on`
    case 'running':
      return `goes to ${sayShare(rollout)}`
    case 'paused':
      return `is paused: it stays at ${sayShare(rollout)}, and takes no step by itself`
    case 'promoted':
      return `is promoted; ${serves(rollout)}`
    case 'rolled_back':
      return `is rolled back: no range gets it; line ${rollout.line} serves ${rollout.stable ?? 'nothing'}`
    case 'cancelled':
      return 'stays a candidate; its rollout is cancelled'
  }
}

// One that has ended says nothing of what was released or unyanked since; one that was promoted is told only when its version
// has been withdrawn since, because otherwise a rollback changes something.
function standsAlready(rollout: RolloutChanged): string {
  const { state, version } = rollout
  switch (state) {
    case 'scheduled':
    case 'running':
    case 'paused':
      return `was ${state} at ${sayShare(rollout)} already`
    case 'promoted':
      return `was promoted, and ${version} has been withdrawn since: no range gets it`
    case 'rolled_back':
    case 'cancelled':
      return `was ${state.replace('_', ' ')} already; what ranges get stays as it is`
  }
}

function sayLines(lines: readonly string[]): string {
  return lines.map((line) => `${safeLine(line)}\n`).join('')
}
