import { authorize, nameKey, Refusal, type Admission } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'

/** Withholds the answer of a call whose caller lost the right to it while it was running, or whose version was blocked meanwhile. */
export function withholdAnswer(deps: Deps, visit: Visit, { skill, resolved }: Admission): void {
  const lost = whatWasLost(deps, visit, { skill, resolved })
  if (lost === undefined) return
  const { effects } = resolved.version.manifest
  throw new Refusal('PERMISSION_DENIED', `${lost} while ${skill.name} was running; its answer is withheld.`, {
    hint: 'ask an admin',
    effect: effects === 'read' ? 'none' : 'done',
  })
}

function whatWasLost(
  deps: Deps,
  visit: Visit,
  { skill, resolved: { version } }: Pick<Admission, 'skill' | 'resolved'>,
): string | undefined {
  const caller = visit.callerNow()
  if (caller === undefined) return 'The key was revoked, a token ran out, or whoever asks was disabled,'
  const current = deps.snapshot().skills.get(nameKey(skill.name))?.byVersion.get(version.version)
  if (current?.status === 'blocked') return `${version.version} was blocked`
  return authorize(caller, { skill, version }, deps.clock.now().getTime()).mayCall ? undefined : 'The right to call it was taken back'
}
