import { Refusal, requireRole, type Caller } from '@repertoire/core'
import type { Deps } from '../ports.ts'

/** Removes a connection; calls that need it are refused from then on. */
export async function removeConnection(
  deps: Deps,
  caller: Caller,
  { name }: { readonly name: string },
): Promise<{ readonly id: string; readonly removed: boolean }> {
  requireRole(caller, 'admin')
  return deps.store.transaction(async (tx) => {
    const at = deps.clock.now()
    if (!(await tx.connections.remove(name, at)))
      throw new Refusal('NOT_FOUND', `There is no connection ${name}.`, { hint: 'repertoire connections list shows them' })
    await tx.audit.append({ caller, action: 'connection.remove', subject: name, at })
    return { id: name, removed: true }
  })
}
