import { authorize, denied, nameKey, Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import type { CallAnswer } from './call.ts'
import { answerKnown, type Keyed } from './idempotency.ts'

/**
 * Looks a key up before anything is decided: what was answered once is answered again, whatever was promoted or rolled back
 * meanwhile, as long as its caller may still call that version. `away` when the database cannot be asked.
 */
export async function tellFirstAnswer(deps: Deps, visit: Visit, keyed: Keyed): Promise<CallAnswer | 'new' | 'away'> {
  const known = await deps.claims.look(keyed).catch((error: unknown) => {
    if (error instanceof Refusal && error.code === 'UNAVAILABLE') return 'away' as const
    throw error
  })
  if (known === 'away') return 'away'
  // Whoever left it unfinished may be followed by another call; what became of it is decided when the key is taken.
  if (known === undefined || (known.kind === 'abandoned' && known.requestHash === keyed.requestHash)) return 'new'
  const answer = answerKnown(deps, keyed, known)
  refuseLostRight(deps, visit, { skillKey: keyed.skillKey, version: known.version })
  return answer
}

function refuseLostRight(
  deps: Deps,
  visit: Visit,
  { skillKey, version: number }: { readonly skillKey: string; readonly version: string },
): void {
  const skill = deps.snapshot().skills.get(nameKey(skillKey))
  const version = skill?.byVersion.get(number)
  if (skill === undefined || version === undefined) return
  if (version.status === 'blocked')
    throw new Refusal('VERSION_WITHDRAWN', `${skill.name} ${number}, which answered this key first, was blocked.`, { effect: 'possible' })
  const authorization = authorize(visit.caller, { skill, version }, deps.clock.now().getTime())
  if (!authorization.mayCall) throw denied(skill, authorization, visit.caller)
}
