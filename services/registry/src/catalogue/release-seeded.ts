import { changesAnything, nameKey, planRelease } from '@repertoire/core'
import type { Writing } from './store-version.ts'

/** A version to release, and why. */
export type ToRelease = { readonly name: string; readonly version: string; readonly reason: string }

/** Releases what the skills folder brought, inside the transaction that stored it. */
export async function releaseSeeded({ deps, tx, caller }: Writing, { name, version, reason }: ToRelease): Promise<void> {
  const skill = await tx.skills.lock(nameKey(name))
  if (skill === undefined) return
  const at = deps.clock.now()
  const facts = await tx.lifecycle.facts(skill)
  // The folder is the operator's own: what its versions need was decided by whoever put them there.
  const acceptTags = facts.versions.find((known) => known.version === version)?.permission ?? []
  const plan = planRelease(facts, version, { by: caller.id, at: at.toISOString(), reason, acceptTags })
  if (!changesAnything(plan)) return
  await tx.lifecycle.apply(skill, plan)
  await tx.audit.append({
    caller,
    action: 'version.release',
    subject: `${skill.name}@${version}`,
    skill: skill.name,
    reason,
    after: plan,
    change: plan,
    at,
  })
}
