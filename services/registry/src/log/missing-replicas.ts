import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { Pool } from '../store/connect.ts'

/** Replicas that went without a word and may have calls on their disks that nobody else has. */
export type MissingReplicas = { readonly count: () => number; readonly stop: () => Promise<void> }

const everyMs = 10_000
const missingAfterSeconds = 300
const mostNamed = 100

/** Looks every ten seconds for replicas that are missing, and tells of each of them once. */
export function watchMissing(log: Pool, logger: Logger): MissingReplicas {
  let missing: readonly Missing[] = []
  let looking: Promise<void> | undefined
  const look = async (): Promise<void> => {
    const now = await log.gate.run(() => findMissing(log.sql))
    const known = new Set(missing.map(({ instance }) => instance))
    for (const replica of now) if (!known.has(replica.instance)) logger.error(replica, 'a replica is missing; calls may lie on its disk')
    missing = now
  }
  const timer = setInterval(() => {
    looking ??= look()
      .catch((error: unknown) => logger.debug({ err: error }, 'missing replicas could not be looked for'))
      .finally(() => (looking = undefined))
  }, everyMs)
  timer.unref()
  return {
    count: () => missing.length,
    stop: async () => {
      clearInterval(timer)
      await looking
    },
  }
}

/** A process that is silent and did not leave. */
type Missing = { readonly instance: string; readonly replica: string; readonly silent_since: Date }

/** The replicas that were heard of, did not leave, and are silent for five minutes. */
export async function findMissing(sql: postgres.Sql): Promise<readonly Missing[]> {
  return sql<Missing[]>`
    select instance, name as replica, last_seen_at as silent_since from replicas
    where left_at is null and last_seen_at < now() - make_interval(secs => ${missingAfterSeconds})
    order by last_seen_at limit ${mostNamed}`
}

/** Says of processes all of whose calls are in Postgres that they have left, at the time when they were last heard of. */
export async function markLeft(sql: postgres.Sql, instances: readonly string[]): Promise<void> {
  await sql`update replicas set left_at = last_seen_at where left_at is null and instance = any(${instances as string[]}::uuid[])`
}
