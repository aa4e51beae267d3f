import type { CreatedKey } from '@repertoire/contract'
import { keyKind, requireRole, writeKey, type Caller } from '@repertoire/core'
import { createHash } from 'node:crypto'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'

/** For whom, and for how many days; undefined means without end. */
export type CreateKeyInput = { readonly agentId: string; readonly expiresInDays: number | undefined }

const dayMs = 24 * 60 * 60 * 1000

/** Makes a key; its text is in this answer and nowhere else. */
export async function createKey(deps: Deps, caller: Caller, { agentId, expiresInDays }: CreateKeyInput): Promise<CreatedKey> {
  requireRole(caller, 'admin')
  return deps.store.transaction(async (tx) => {
    const agent = await tx.agents.lock(agentId)
    if (agent === undefined) throw noAgent(agentId)
    const at = deps.clock.now()
    const kind = keyKind(agent.role)
    const key = writeKey(kind, deps.ids.random(64))
    const id = deps.ids.next()
    const expiresAt = expiresInDays === undefined ? null : new Date(at.getTime() + expiresInDays * dayMs)
    await tx.keys.insert({ id, agentId, kind, hash: hashOfKey(key), tail: key.slice(-4), at, by: caller.id, expiresAt })
    await tx.audit.append({
      caller,
      action: 'key.create',
      subject: agentId,
      after: { key_id: id, expires_at: expiresAt?.toISOString() ?? null },
      at,
    })
    return { id, key, agent_id: agentId, expires_at: expiresAt?.toISOString() ?? null }
  })
}

/** The SHA-256 under which a key is known. */
export function hashOfKey(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
