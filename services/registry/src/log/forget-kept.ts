import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Database } from '../store/connect.ts'

const everyMs = 10 * 60_000
const deadlineMs = 30_000

/** Takes away, every ten minutes, what is kept for a day only: answers to keys, whole results, places whose holder is gone, and what was spent of quotas. */
export function forgetKept({ general }: Database, logger: Logger): () => void {
  const timer = setInterval(() => {
    general.gate
      .run(() => forgetOnce(general.sql), deadlineMs)
      .catch((error: unknown) => logger.debug({ err: error }, 'what was kept for a day could not be removed'))
  }, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** Takes it away once. */
export async function forgetOnce(sql: postgres.Sql): Promise<void> {
  await sql`delete from call_claims where claimed_at < now() - interval '25 hours' and lease_until < now()`
  await sql`delete from call_results where kept_at < now() - interval '25 hours'`
  await sql`delete from call_leases where expires_at < now() - interval '1 hour'`
  // A process whose clock is behind still counts in the window before.
  await sql`delete from quota_shares where window_start < extract(epoch from now() - case span when 'day' then interval '2 days' else interval '10 minutes' end) * 1000`
}
