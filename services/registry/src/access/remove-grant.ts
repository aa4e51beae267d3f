import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { isUuid } from './revoke-key.ts'

/** Takes a grant or a denial back. */
export async function removeGrant(
  deps: Deps,
  caller: Caller,
  { agentId, grantId }: { readonly agentId: string; readonly grantId: string },
): Promise<{ readonly id: string; readonly removed: boolean }> {
  requireRole(caller, 'admin')
  return deps.store.transaction(
    async (tx) => {
      const at = deps.clock.now()
      if (!isUuid(grantId) || !(await tx.grants.remove(agentId, grantId, at)))
        throw new Refusal('NOT_FOUND', `Agent ${agentId} has no grant ${grantId}.`, { hint: `repertoire grants ${agentId} shows them` })
      await tx.audit.append({ caller, action: 'grant.remove', subject: agentId, after: { grant_id: grantId }, at })
      return { id: grantId, removed: true }
    },
    { isUrgent: true },
  )
}
