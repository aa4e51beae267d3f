import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Revokes a key: the next request that shows it is refused. */
export async function revokeKey(
  deps: Deps,
  caller: Caller,
  { agentId, keyId }: { readonly agentId: string; readonly keyId: string },
): Promise<{ readonly id: string; readonly removed: boolean }> {
  requireRole(caller, 'admin')
  if (keyId === caller.keyId) throw new Refusal('ILLEGAL_TRANSITION', 'A key cannot revoke itself.', { hint: 'use another admin key' })
  return deps.store.transaction(
    async (tx) => {
      const at = deps.clock.now()
      if (!isUuid(keyId) || !(await tx.keys.revoke(agentId, keyId, at)))
        throw new Refusal('NOT_FOUND', `Agent ${agentId} has no live key ${keyId}.`, { hint: `repertoire keys list ${agentId} shows them` })
      await tx.audit.append({ caller, action: 'key.revoke', subject: agentId, after: { key_id: keyId }, at })
      return { id: keyId, removed: true }
    },
    { isUrgent: true },
  )
}

/** Whether a text is an identifier of ours, before it reaches a query. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}
