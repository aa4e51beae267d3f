import { keyKind, systemCaller, writeKey } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { hashOfKey } from './create-key.ts'

/** Makes the first admin and its key, unless an admin has one; the key does not expire. Undefined when there was nothing to do. */
export async function makeFirstAdmin(
  deps: Pick<Deps, 'store' | 'clock' | 'ids'>,
  keep: (key: string) => Promise<void>,
): Promise<string | undefined> {
  return deps.store.transaction(async (tx) => {
    if (await tx.agents.anyKeyOfRole('admin')) return undefined
    const at = deps.clock.now()
    await tx.agents.insert({
      id: 'admin',
      name: 'First admin',
      role: 'admin',
      team: null,
      tenant: null,
      domains: [],
      disabled: false,
      at,
      by: systemCaller.id,
    })
    const key = writeKey(keyKind('admin'), deps.ids.random(64))
    const id = deps.ids.next()
    await tx.keys.insert({
      id,
      agentId: 'admin',
      kind: keyKind('admin'),
      hash: hashOfKey(key),
      tail: key.slice(-4),
      at,
      by: systemCaller.id,
      expiresAt: null,
    })
    await tx.audit.append({
      caller: systemCaller,
      action: 'key.create',
      subject: 'admin',
      reason: 'first start',
      after: { key_id: id },
      at,
    })
    // Written before the commit: a key that exists and that nobody has would lock everybody out.
    await keep(key)
    return key
  })
}
