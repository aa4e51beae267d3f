import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { about, showQuota } from './create-quota.ts'
import { isUuid } from './revoke-key.ts'

/** Removes a limit on calls; another one about the same begins to count at nothing. */
export async function removeQuota(
  deps: Deps,
  caller: Caller,
  { id }: { readonly id: string },
): Promise<{ readonly id: string; readonly removed: boolean }> {
  requireRole(caller, 'admin')
  return deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    const removed = isUuid(id) ? await tx.quotas.remove(id, at) : undefined
    if (removed === undefined)
      throw new Refusal('NOT_FOUND', `There is no quota ${id.slice(0, 64)}.`, { hint: 'repertoire quotas list shows them' })
    const shown = showQuota(deps.snapshot(), removed)
    await tx.audit.append({ caller, action: 'quota.remove', subject: id, ...about(shown), before: shown, at })
    return { id, removed: true }
  })
}
