import type { Grant } from '@repertoire/contract'
import { requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'
import { showGrant } from './create-grant.ts'

/** What an agent holds and is denied. */
export async function listGrants(
  deps: Deps,
  caller: Caller,
  { agentId }: { readonly agentId: string },
): Promise<{ readonly items: Grant[]; readonly next_cursor: null }> {
  requireRole(caller, 'admin')
  if (!deps.snapshot().agents.has(agentId)) throw noAgent(agentId)
  return { items: (await deps.store.listGrants(agentId)).map(showGrant), next_cursor: null }
}
