import type { Database, Pool } from './connect.ts'

const everyMs = 200
// A statement ends at its time-out at the latest, by the server's own clock: who is silent longer is not there.
const graceMs = 500

// More statements than any piece of work has, each as long as it may take: what is inside for longer will never come out.
const mostStatements = 15

/** Who hears of a pool that was replaced, and when the driver last let an error fall with which work may have been lost. */
export type WatchOptions = { readonly onReset?: (pool: string) => void; readonly lastFaultAt?: () => number }

/**
 * Replaces pools whose link is dead: the driver notices only when the network tells it, which after a failover may take a
 * quarter of an hour. A pool is given up when nothing has come back for longer than any statement may take, while a new
 * connection is answered; and when one piece of work hangs in it while others come and go, as it does where the driver lost it.
 */
export function watchPools(
  database: Database,
  { onReset = () => undefined, lastFaultAt = () => Number.NEGATIVE_INFINITY }: WatchOptions = {},
): () => void {
  const isSilent = ({ gate, statementMs }: Pool): boolean => {
    const silentMs = statementMs + graceMs
    const oldestMs = gate.oldestMs()
    if (oldestMs <= silentMs) return false
    const wasThereAtFault = performance.now() - oldestMs <= lastFaultAt()
    return gate.quietMs() > silentMs || wasThereAtFault || oldestMs > statementMs * mostStatements
  }
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking || !database.pools.some(isSilent)) return
    isLooking = true
    const answers = await database.probe().finally(() => (isLooking = false))
    const silent = answers ? database.pools.filter(isSilent) : []
    for (const pool of silent) {
      pool.reset()
      onReset(pool.name)
    }
    if (silent.length > 0) database.relisten()
  }
  const timer = setInterval(() => void look(), everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
