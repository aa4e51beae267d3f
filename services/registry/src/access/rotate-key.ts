import type { RotatedKey } from '@repertoire/contract'
import { Refusal, requireRole, writeKey, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { noAgent } from './change-agent.ts'
import { hashOfKey } from './create-key.ts'

/** Which key, how long it stays good beside the new one, and how long that is good. */
export type RotateKeyInput = {
  readonly agentId: string
  readonly keyId: string
  readonly overlapHours: number
  readonly expiresInDays: number
}

const hourMs = 60 * 60 * 1000

/** Makes a key in the place of another, which stays good for a while, so that nothing stops while clients are given the new one. */
export async function rotateKey(
  deps: Deps,
  caller: Caller,
  { agentId, keyId, overlapHours, expiresInDays }: RotateKeyInput,
): Promise<RotatedKey> {
  requireRole(caller, 'admin')
  return deps.store.transaction(async (tx) => {
    if ((await tx.agents.lock(agentId)) === undefined) throw noAgent(agentId)
    const old = isUuid(keyId) ? await tx.keys.find(agentId, keyId) : undefined
    if (old === undefined)
      throw new Refusal('NOT_FOUND', `There is no key ${keyId.slice(0, 64)} of ${agentId}.`, {
        hint: `repertoire keys list ${agentId} shows them`,
      })
    const at = deps.clock.now()
    refuseEnded(old, at)
    const key = writeKey(old.kind, deps.ids.random(64))
    const id = deps.ids.next()
    const expiresAt = new Date(at.getTime() + expiresInDays * 24 * hourMs)
    const overlapEnds = new Date(at.getTime() + overlapHours * hourMs)
    const oldEnds = old.expiresAt !== null && old.expiresAt < overlapEnds ? old.expiresAt : overlapEnds
    await tx.keys.insert({ id, agentId, kind: old.kind, hash: hashOfKey(key), tail: key.slice(-4), at, by: caller.id, expiresAt })
    await tx.keys.rotate({ keyId, to: id, expiresAt: oldEnds })
    await tx.audit.append({
      caller,
      action: 'key.rotate',
      subject: agentId,
      before: { key_id: keyId, expires_at: old.expiresAt?.toISOString() ?? null },
      after: { key_id: id, expires_at: expiresAt.toISOString(), old_expires_at: oldEnds.toISOString() },
      at,
    })
    return { id, key, agent_id: agentId, expires_at: expiresAt.toISOString(), replaces: { id: keyId, expires_at: oldEnds.toISOString() } }
  })
}

function refuseEnded(
  old: { readonly revokedAt: Date | null; readonly expiresAt: Date | null; readonly rotatedTo: string | null },
  at: Date,
): void {
  const why =
    old.revokedAt !== null
      ? 'was revoked'
      : old.rotatedTo !== null
        ? `was rotated already, to ${old.rotatedTo}`
        : old.expiresAt !== null && old.expiresAt <= at
          ? 'has expired'
          : undefined
  if (why !== undefined)
    throw new Refusal('CONFLICT', `The key ${why}; only one that is good can be rotated.`, { hint: 'make a new key instead' })
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
