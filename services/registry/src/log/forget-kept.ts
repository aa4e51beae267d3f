import type { Logger } from 'pino'
import type { Database } from '../store/connect.ts'

const everyMs = 10 * 60_000
const deadlineMs = 30_000

/** Takes away, every ten minutes, what is kept for a day only: answers to keys, whole results, places whose holder is gone. */
export function forgetKept({ general }: Database, logger: Logger): () => void {
  const forget = async (): Promise<void> => {
    const { sql } = general
    await sql`delete from call_claims where claimed_at < now() - interval '25 hours' and lease_until < now()`
    await sql`delete from call_results where kept_at < now() - interval '25 hours'`
    await sql`delete from call_leases where expires_at < now() - interval '1 hour'`
  }
  const timer = setInterval(() => {
    general.gate
      .run(forget, deadlineMs)
      .catch((error: unknown) => logger.debug({ err: error }, 'what was kept for a day could not be removed'))
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
