import { parseExact, Refusal } from '@repertoire/core'
import type { Writing } from './store-version.ts'

/** A version to release, and why. */
export type ToRelease = { readonly skillId: string; readonly name: string; readonly version: string; readonly reason: string }

/** What a release did to the line. */
export type ReleaseResult = {
  readonly line: string
  readonly stable: string | null
  readonly previousStable: string | null
  readonly changed: boolean
}

/** Releases a version inside a transaction; its line serves it when it is newer than what the line serves. */
export async function releaseIn({ deps, tx, caller }: Writing, { skillId, name, version, reason }: ToRelease): Promise<ReleaseResult> {
  const state = await tx.versions.find(skillId, version)
  if (state === undefined)
    throw new Refusal('VERSION_NOT_FOUND', `${name} has no version ${version}.`, { hint: `repertoire show ${name} --versions lists them` })
  const previousStable = await tx.lines.stable(skillId, state.line)
  if (state.status === 'released') return { line: state.line, stable: previousStable, previousStable, changed: false }
  if (state.status !== 'candidate') {
    throw new Refusal('ILLEGAL_TRANSITION', `${name} ${version} is ${state.status}; only a candidate can be released.`, {
      hint: state.status === 'yanked' ? 'unyank it first' : 'publish a new version',
    })
  }
  const rollout = await tx.rollouts.active(skillId, state.line)
  if (rollout !== undefined)
    throw new Refusal('ROLLOUT_ACTIVE', `Line ${state.line} of ${name} has an active rollout of ${rollout.candidate}.`, {
      hint: 'promote it, roll it back or cancel it first',
    })
  const at = deps.clock.now()
  await tx.versions.setStatus({ id: state.id, status: 'released', reason: null, at })
  const stable = newerOf(version, previousStable)
  if (stable !== previousStable && stable !== null) await tx.lines.setStable({ skillId, line: state.line, stable })
  await tx.audit.append({
    caller,
    action: 'version.release',
    subject: `${name}@${version}`,
    reason,
    before: { status: state.status, stable: previousStable },
    after: { status: 'released', stable },
    at,
  })
  return { line: state.line, stable, previousStable, changed: true }
}

// A pre-release never becomes what a range gets, and an older version never takes the place of a newer one.
function newerOf(version: string, stable: string | null): string | null {
  const released = parseExact(version)
  if (released === undefined || released.prerelease.length > 0) return stable
  return stable === null || released.compare(stable) > 0 ? version : stable
}
