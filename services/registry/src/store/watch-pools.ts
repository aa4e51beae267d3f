import type { Database, Pool } from './connect.ts'

const everyMs = 200
// A statement ends at its time-out at the latest, by the server's own clock: who is silent longer is not there.
const graceMs = 500

/**
 * Replaces pools whose link is dead: the driver notices only when the network tells it, which after a failover may take a
 * quarter of an hour. A pool is given up when nothing has come back for longer than any statement may take, while a new
 * connection is answered.
 */
export function watchPools(database: Database, onReset: (pool: string) => void): () => void {
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

function isSilent({ gate, statementMs }: Pool): boolean {
  const silentMs = statementMs + graceMs
  return gate.oldestMs() > silentMs && gate.quietMs() > silentMs
}
