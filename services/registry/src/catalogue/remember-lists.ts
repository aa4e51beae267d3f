import type { ListSkillsQuery } from '@repertoire/contract'
import { isUnconfirmed, type Snapshot } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import { listSkills, type SkillPage } from './list-skills.ts'

type Remembered = { readonly page: SkillPage; readonly fromMs: number; readonly upToMs: number }

// A list per catalogue: whatever changes who may see what makes another one, and these go with it.
const lists = new WeakMap<Snapshot, Map<string, Remembered>>()
const mostRemembered = 5000

/**
 * The list a caller was given last, for as long as nothing it was decided by has changed: agents ask for their list again and
 * again, and it is a resolution for every skill there is. Who comes with a token, for a user, or with ranges in a header is
 * listed anew each time.
 */
export function rememberedList(deps: Deps, visit: Visit, query: ListSkillsQuery): SkillPage {
  const { caller } = visit
  const snapshot = deps.snapshot()
  const declared = snapshot.requirements.get(caller.id)?.get(visit.instance)
  const isAlone = caller.keyId === null || caller.onBehalfOf !== null || visit.standing.some((ranges) => ranges !== declared)
  if (isAlone) return listSkills(deps, visit, query)
  const nowMs = deps.clock.now().getTime()
  const known = lists.get(snapshot) ?? new Map<string, Remembered>()
  lists.set(snapshot, known)
  const of = [caller.id, caller.keyId, visit.instance, visit.session, visit.tenant, isUnconfirmed(visit)]
  const key = JSON.stringify([of, query.view, query.domain, query.cursor, query.limit])
  const before = known.get(key)
  if (before !== undefined && before.fromMs <= nowMs && nowMs < before.upToMs) return before.page
  const page = listSkills(deps, visit, query)
  if (known.size >= mostRemembered) known.clear()
  known.set(key, { page, fromMs: nowMs, upToMs: nextEnd(visit, nowMs) })
  return page
}

// Time alone ends grants and denials; nothing else of a list depends on it.
function nextEnd({ caller }: Visit, nowMs: number): number {
  return Math.min(
    ...caller.grants.map(({ expiresAt }) => (expiresAt === null || expiresAt <= nowMs ? Number.POSITIVE_INFINITY : expiresAt)),
  )
}
