import { keyKind, systemCaller, writeKey } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { hashOfKey } from './create-key.ts'

const adminId = 'admin'

/** Gives the first admin a new key, and its rights back if it was disabled: for whoever has the database, when nobody has a key. */
export async function breakGlass(
  deps: Pick<Deps, 'store' | 'clock' | 'ids'>,
  { reason, keep }: { readonly reason: string; readonly keep: (key: string) => Promise<void> },
): Promise<void> {
  await deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    const agent = await tx.agents.lock(adminId)
    const fresh = { id: adminId, name: 'First admin', role: 'admin', team: null, tenant: null, domains: [], disabled: false } as const
    if (agent === undefined) await tx.agents.insert({ ...fresh, at, by: systemCaller.id })
    else if (agent.disabled) await tx.agents.update({ ...agent, disabled: false })
    const key = writeKey(keyKind('admin'), deps.ids.random(64))
    const id = deps.ids.next()
    const kind = keyKind('admin')
    await tx.keys.insert({
      id,
      agentId: adminId,
      kind,
      hash: hashOfKey(key),
      tail: key.slice(-4),
      at,
      by: systemCaller.id,
      expiresAt: null,
    })
    await tx.audit.append({
      caller: systemCaller,
      action: 'key.break_glass',
      subject: adminId,
      reason,
      before: agent === undefined ? null : { disabled: agent.disabled },
      after: { key_id: id, disabled: false },
      at,
    })
    // Written before the commit, like the first one: a key that nobody has would help nobody.
    await keep(key)
  })
}
