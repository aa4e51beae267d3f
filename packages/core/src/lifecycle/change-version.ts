import { Refusal } from '../refusal.ts'
import { requireAcceptedTags, servedBefore } from './added-tags.ts'
import {
  activeOn,
  changeStatus,
  findVersion,
  newestServable,
  nothingToDo,
  type Order,
  type Plan,
  type SkillFacts,
  type VersionFacts,
} from './facts.ts'
import { requireLegalStatus } from './legal.ts'
import { raisePointer } from './promote.ts'
import { endRollout } from './roll-back.ts'
import { rolloutActive } from './start-rollout.ts'

/** What is said of a version that is on its way out. */
export type Farewell = { readonly version: string; readonly sunsetAt?: string | null; readonly replacement?: string | null }

/** Plans a release; a released version above what its line serves, such as one that was unyanked, is served from now on. */
export function planRelease(facts: SkillFacts, version: string, order: Order): Plan {
  const found = findVersion(facts, version)
  const lines = raisePointer(found, facts.stable.get(found.line) ?? null)
  const isReleased = found.status === 'released' || found.status === 'deprecated'
  if (isReleased && lines.length === 0) return nothingToDo
  if (!isReleased) requireLegalStatus(facts.name, found, 'release')
  const active = activeOn(facts, found.line)
  if (active !== undefined) throw rolloutActive(facts.name, active)
  // Also below what the line serves: ranges with an upper bound get it from then on.
  if (found.semver.prerelease.length === 0) requireAcceptedTags(facts, { version: found, before: servedBefore(facts, found) }, order)
  return { versions: isReleased ? [] : [changeStatus(found, 'released', { statusReason: null, at: order.at })], lines, rollouts: [] }
}

/** Plans a deprecation: it is served as before, with a warning, a date and a replacement; saying it anew replaces what was said. */
export function planDeprecate(facts: SkillFacts, { version, sunsetAt = null, replacement = null }: Farewell, order: Order): Plan {
  const found = findVersion(facts, version)
  requireReplacement(facts, found, replacement)
  const said = { statusReason: order.reason, sunsetAt, replacement }
  if (found.status === 'deprecated') {
    const isSame = found.statusReason === said.statusReason && found.sunsetAt === sunsetAt && found.replacement === replacement
    const change = changeStatus(found, 'deprecated', { ...said, formerStatus: found.formerStatus, at: found.statusChangedAt })
    return isSame ? nothingToDo : { ...nothingToDo, versions: [change] }
  }
  requireLegalStatus(facts.name, found, 'deprecate')
  return { ...nothingToDo, versions: [changeStatus(found, 'deprecated', { ...said, at: order.at })] }
}

/** Plans to withdraw a version from ranges; who pins it still gets it, with a warning. */
export function planYank(facts: SkillFacts, { version, replacement = null }: Farewell, order: Order): Plan {
  const found = findVersion(facts, version)
  requireReplacement(facts, found, replacement)
  if (found.status === 'yanked') return nothingToDo
  requireLegalStatus(facts.name, found, 'yank')
  return withdraw(facts, found, { status: 'yanked', replacement, order })
}

/** Plans to withdraw a version from everybody, for good. */
export function planBlock(facts: SkillFacts, { version, replacement = null }: Farewell, order: Order): Plan {
  const found = findVersion(facts, version)
  requireReplacement(facts, found, replacement)
  if (found.status === 'blocked') return nothingToDo
  return withdraw(facts, found, { status: 'blocked', replacement, order })
}

/** Plans to take a yank back: the version is what it was before. What its line serves stays as it is. */
export function planUnyank(facts: SkillFacts, version: string, order: Order): Plan {
  const found = findVersion(facts, version)
  requireLegalStatus(facts.name, found, 'unyank')
  const former = found.formerStatus ?? 'candidate'
  return {
    ...nothingToDo,
    versions: [changeStatus(found, former, { formerStatus: null, statusReason: null, replacement: null, at: order.at })],
  }
}

function withdraw(
  facts: SkillFacts,
  version: VersionFacts,
  { status, replacement, order }: { readonly status: 'yanked' | 'blocked'; readonly replacement: string | null; readonly order: Order },
): Plan {
  const change = changeStatus(version, status, { statusReason: order.reason, replacement, at: order.at })
  const rollout = activeOn(facts, version.line)
  const isServed = facts.stable.get(version.line) === version.version
  return {
    versions: [change],
    lines: isServed
      ? [{ line: version.line, stable: newestServable(facts, version.line, { below: version.semver })?.version ?? null }]
      : [],
    rollouts: rollout?.candidate === version.version ? endRollout(facts, rollout, order).rollouts : [],
  }
}

function requireReplacement(facts: SkillFacts, version: VersionFacts, replacement: string | null): void {
  if (replacement === null) return
  const found = findVersion(facts, replacement)
  if (found.version !== version.version && found.status !== 'blocked') return
  throw new Refusal(
    'INVALID_REQUEST',
    `${replacement} cannot replace ${version.version}: it is ${found.version === version.version ? 'the same version' : 'blocked'}.`,
    {
      hint: 'name another version, or leave the replacement out',
      details: [{ path: '/replacement', rule: 'replacement', got: replacement }],
    },
  )
}
