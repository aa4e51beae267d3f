import { narrowTo, type Caller, type OnBehalfOf } from '@repertoire/core'
import type { HttpDeps } from './door.ts'
import { grantsOfToken, looksLikeToken, unauthenticated, type Identity } from './identify.ts'

/** The header in which an agent shows the token of the user it asks for. */
export const onBehalfOfHeader = 'repertoire-on-behalf-of'

/**
 * Narrows who asks to what the user of a token may as well. A token that nobody can vouch for, or that is over, is never
 * passed over: it is the one 401, as for a key that is not good.
 */
export async function narrowIdentity(identity: Identity, token: string, deps: HttpDeps): Promise<Identity> {
  const claimed = looksLikeToken(token) ? await deps.verifyToken?.(token) : undefined
  if (claimed === undefined) throw unauthenticated()
  const userNow = (): OnBehalfOf | undefined => {
    if (claimed.expiresAt <= deps.clock.now().getTime()) return undefined
    const grants = grantsOfToken(claimed, deps)
    return grants === undefined ? undefined : { subject: claimed.agentId, grants }
  }
  const narrow = (caller: Caller | undefined): Caller | undefined => {
    const user = userNow()
    return caller === undefined || user === undefined ? undefined : narrowTo(caller, user)
  }
  const caller = narrow(identity.caller)
  if (caller === undefined) throw unauthenticated()
  return { caller, keyHash: identity.keyHash, callerNow: () => narrow(identity.callerNow()) }
}
