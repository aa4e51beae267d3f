import { Refusal } from '../refusal.ts'
import { requireAcceptedTags } from './added-tags.ts'
import { parseExact } from '../version.ts'
import { changeStatus, findVersion, isActive, isServable, nothingToDo, type Order, type Plan, type SkillFacts } from './facts.ts'
import { holdAutomation } from './hold-automation.ts'

/** A line, and the version it is to serve again; null for none. */
export type RevertTarget = { readonly line: string; readonly to: string | null }

/** Plans to serve an older version of a line again; reverting to what it serves ends what is above it, or changes nothing. */
export function planRevert(facts: SkillFacts, { line, to }: { readonly line: string; readonly to: string }, order: Order): Plan {
  const target = findVersion(facts, to)
  if (target.line !== line) {
    throw new Refusal('VERSION_NOT_FOUND', `${facts.name} ${to} is in line ${target.line}, not in line ${line}.`, {
      hint: `revert line ${target.line}, or name a version of line ${line}`,
    })
  }
  if (!isServable(target)) {
    throw new Refusal(
      'ILLEGAL_TRANSITION',
      `${facts.name} ${to} is ${target.status}${target.semver.prerelease.length > 0 ? ' and a pre-release' : ''}; a line is reverted to a released version.`,
      {
        hint: target.status === 'yanked' ? 'unyank it first' : `versions of line ${line} that can be served: ${servable(facts, line)}`,
        details: [{ rule: 'transition', got: 'revert', allowed: [] }],
      },
    )
  }
  const stable = facts.stable.get(line)
  const current = stable === undefined ? undefined : parseExact(stable)
  if (current === undefined || target.semver.compare(current) > 0) {
    throw new Refusal(
      'ILLEGAL_TRANSITION',
      `Line ${line} of ${facts.name} serves ${stable ?? 'nothing'}; a revert goes down, never up to ${to}.`,
      {
        hint: `release it instead: repertoire release ${facts.name} ${to}`,
        details: [{ rule: 'transition', got: 'revert', allowed: ['release'] }],
      },
    )
  }
  // A rollback goes through whatever it needs; who chooses a version to go back to can name what it adds.
  requireAcceptedTags(facts, { version: target, before: facts.versions.find((version) => version.version === stable) }, order)
  return planRevertTo(facts, { line, to }, order)
}

/**
 * Plans the revert itself. What it steps over is yanked in the same breath, and rollouts above it are ended: otherwise the
 * next promotion would lift the ceiling over them, and ranges would get them again.
 */
export function planRevertTo(facts: SkillFacts, { line, to }: RevertTarget, order: Order): Plan {
  const target = to === null ? undefined : findVersion(facts, to)
  const isAbove = (version: string): boolean => target === undefined || (parseExact(version)?.compare(target.semver) ?? 0) > 0
  const ended = facts.rollouts.filter((rollout) => rollout.line === line && isActive(rollout) && isAbove(rollout.candidate))
  const candidates = new Set(ended.map((rollout) => rollout.candidate))
  const steppedOver = facts.versions.filter(
    (version) =>
      version.line === line &&
      isAbove(version.version) &&
      (isServable(version) || (candidates.has(version.version) && version.status === 'candidate')),
  )
  const pointer = (facts.stable.get(line) ?? null) === to ? [] : [{ line, stable: to }]
  if (steppedOver.length + ended.length + pointer.length === 0) return nothingToDo
  return {
    versions: steppedOver.map((version) => changeStatus(version, 'yanked', { statusReason: order.reason, at: order.at })),
    lines: pointer,
    rollouts: [
      ...ended.map((rollout) => ({
        ...rollout,
        state: 'rolled_back' as const,
        pausedReason: null,
        pausedNote: null,
        updatedAt: order.at,
        endedAt: order.at,
      })),
      ...holdAutomation(
        facts,
        ended.map((rollout) => rollout.id),
        order,
      ),
    ],
  }
}

function servable(facts: SkillFacts, line: string): string {
  const names = facts.versions.filter((version) => version.line === line && isServable(version)).map((version) => version.version)
  return names.length === 0 ? 'none' : names.slice(0, 5).join(', ')
}
