import type { Rollout } from '@repertoire/contract'
import { requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { isUuid, noRollout } from './command-rollout.ts'
import { showRollout } from './show-rollout.ts'

/** One rollout, and the revision of its skill that a command on it is decided by. */
export async function getRollout(
  deps: Deps,
  caller: Caller,
  { id }: { readonly id: string },
): Promise<{ readonly rollout: Rollout; readonly skillRevision: number; readonly revision: number }> {
  requireRole(caller, 'operator')
  const stored = isUuid(id) ? await deps.store.rollout(id.toLowerCase()) : undefined
  if (stored === undefined) throw noRollout(id)
  const { skillRevision, revision } = stored
  return { rollout: showRollout(stored.skill, stored.rollout), skillRevision, revision }
}
