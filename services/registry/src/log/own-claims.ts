import type { ClaimKey, Claims, KnownClaim } from '../ports.ts'

/**
 * Claims of which this replica's own are known without asking: of a hundred that come with one key at once, one asks the
 * database, and the others hear at once that it is under way.
 */
export function rememberOwn(claims: Omit<Claims, 'ended'>): Claims {
  const own = new Map<string, KnownClaim>()
  const looks = new Map<string, Promise<KnownClaim | undefined>>()
  const idOf = ({ agentId, skillKey, keyHash }: ClaimKey): string => `${agentId}\n${skillKey}\n${keyHash}`
  const forget = (key: ClaimKey, callId: string): void => {
    if (own.get(idOf(key))?.callId === callId) own.delete(idOf(key))
  }
  return {
    look: async (key) => {
      const id = idOf(key)
      const mine = own.get(id)
      if (mine !== undefined) return mine
      const looking = looks.get(id) ?? claims.look(key).finally(() => looks.delete(id))
      looks.set(id, looking)
      return looking
    },
    claim: async (claim) => {
      const { callId, requestHash, version } = claim
      const mine = own.get(idOf(claim))
      if (mine !== undefined) return mine
      own.set(idOf(claim), { kind: 'in_flight', callId, requestHash, version, answer: null, hasHappened: false })
      let isTaken = false
      try {
        const taken = await claims.claim(claim)
        isTaken = taken === 'mine'
        return taken
      } finally {
        if (!isTaken) forget(claim, callId)
      }
    },
    release: async (key, callId) => {
      await claims.release(key, callId).finally(() => forget(key, callId))
    },
    ended: forget,
  }
}
