import { setTimeout as pause } from 'node:timers/promises'
import type { ClaimKey, Claims, KnownClaim } from '../ports.ts'

const againAfterMs = [1000, 2000, 5000, 10_000, 30_000, 60_000]

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
      } catch (error) {
        // The database may have given it all the same: the key of a call that was refused must not end as one of which nobody knows.
        void giveBack(claims, claim, callId)
        throw error
      } finally {
        if (!isTaken) forget(claim, callId)
      }
    },
    release: async (key, callId) => {
      try {
        await claims.release(key, callId)
      } catch (error) {
        void giveBack(claims, key, callId)
        throw error
      } finally {
        forget(key, callId)
      }
    },
    ended: forget,
  }
}

// Twice: the question that took it may have been on its way still the first time.
async function giveBack({ release }: Pick<Claims, 'release'>, key: ClaimKey, callId: string): Promise<void> {
  let times = 0
  for (const ms of againAfterMs) {
    await pause(ms, undefined, { ref: false })
    times += await release(key, callId).then(
      () => 1,
      () => 0,
    )
    if (times === 2) return
  }
}
