import type { Key } from '@repertoire/contract'
import { requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'

/** The keys of an agent, without their secrets. */
export async function listKeys(
  deps: Deps,
  caller: Caller,
  { agentId }: { readonly agentId: string },
): Promise<{ readonly items: Key[]; readonly next_cursor: null }> {
  requireRole(caller, 'admin')
  if (!deps.snapshot().agents.has(agentId)) throw noAgent(agentId)
  const rows = await deps.store.listKeys(agentId)
  const items = rows.map((row) => ({
    id: row.id,
    agent_id: row.agentId,
    kind: row.kind,
    tail: row.tail,
    created_at: row.createdAt.toISOString(),
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    rotated_to: row.rotatedTo,
  }))
  return { items, next_cursor: null }
}
