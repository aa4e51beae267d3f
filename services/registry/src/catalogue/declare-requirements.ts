import type { Declared } from '@repertoire/contract'
import { isSkillName, nameKey, parseRange, Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'

const maxInstances = 100

/** Replaces the ranges that one instance of an agent works with; declaring the same again writes nothing. */
export async function declareRequirements(
  deps: Deps,
  visit: Visit,
  { requires }: { readonly requires: Readonly<Record<string, string>> },
): Promise<Declared> {
  const { caller, instance } = visit
  if (!deps.snapshot().agents.has(caller.id))
    throw new Refusal('NOT_FOUND', `${caller.id} is not a registered agent, so that nobody would see what it declares.`, {
      hint: `ask an admin: repertoire agents create ${caller.id}; until then send Repertoire-Requires`,
    })
  const wanted = new Map<string, { readonly skill: string; readonly range: string }>()
  for (const [skill, range] of Object.entries(requires)) {
    if (!isSkillName(skill))
      throw new Refusal('INVALID_REQUEST', `${JSON.stringify(skill.slice(0, 80))} is not a skill's name.`, {
        details: [{ path: `/requires/${skill.slice(0, 80)}`, rule: 'name' }],
      })
    if (wanted.has(nameKey(skill)))
      throw new Refusal('INVALID_REQUEST', `${skill} is declared twice: - and _ are one letter.`, {
        details: [{ path: `/requires/${skill}`, rule: 'once' }],
      })
    wanted.set(nameKey(skill), { skill, range: parseRange(range).text })
  }
  const instances = deps.snapshot().requirements.get(caller.id)
  if (instances !== undefined && !instances.has(instance) && instances.size >= maxInstances) {
    throw new Refusal('INVALID_REQUEST', `An agent declares for at most ${maxInstances} instances.`, {
      hint: 'use one name for instances that work with the same ranges',
      details: [{ path: '/', rule: 'instances' }],
    })
  }
  const current = instances?.get(instance) ?? new Map<string, string>()
  const isSame = current.size === wanted.size && [...wanted].every(([key, { range }]) => current.get(key) === range)
  const answer = {
    agent_id: caller.id,
    instance,
    requires: Object.fromEntries([...wanted.values()].map(({ skill, range }) => [skill, range])),
  }
  if (isSame) return { ...answer, changed: false }
  await deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    await tx.requirements.replace({ agentId: caller.id, instance, requires: wanted, at })
    await tx.audit.append({
      caller,
      action: 'requirements.declare',
      subject: `${caller.id}/${instance}`,
      before: Object.fromEntries(current),
      after: answer.requires,
      at,
    })
  })
  return { ...answer, changed: true }
}
