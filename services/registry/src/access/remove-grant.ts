import type { Warning } from '@repertoire/contract'
import { completedClasses, Refusal, requireRole, warnOfClasses, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { isUuid } from './revoke-key.ts'

/** What was taken back, and what whoever did it should know. */
export type GrantRemoved = { readonly removed: { readonly id: string; readonly removed: boolean }; readonly warnings: readonly Warning[] }

/** Takes a grant or a denial back; without a denial the agent may reach all classes of tags, which is warned of. */
export async function removeGrant(
  deps: Deps,
  caller: Caller,
  { agentId, grantId }: { readonly agentId: string; readonly grantId: string },
): Promise<GrantRemoved> {
  requireRole(caller, 'admin')
  return deps.store.transaction(
    async (tx) => {
      const at = deps.clock.now()
      const removed = isUuid(grantId) ? await tx.grants.remove(agentId, grantId, at) : undefined
      if (removed === undefined)
        throw new Refusal('NOT_FOUND', `Agent ${agentId} has no grant ${grantId}.`, { hint: `repertoire grants ${agentId} shows them` })
      const left = removed.deny ? await tx.grants.of(agentId) : []
      const completed = completedClasses({ before: [...left, removed], after: left }, deps.settings.tagClasses, at.getTime())
      const warnings = completed === undefined ? [] : [warnOfClasses(agentId, completed)]
      await tx.audit.append({
        caller,
        action: 'grant.remove',
        subject: agentId,
        after: { grant_id: grantId, ...(completed === undefined ? {} : { risk: warnings.map((warning) => warning.message) }) },
        at,
      })
      return { removed: { id: grantId, removed: true }, warnings }
    },
    { isUrgent: true },
  )
}
