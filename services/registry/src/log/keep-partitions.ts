import type { Logger } from 'pino'
import type { Database } from '../store/connect.ts'

const everyMs = 60 * 60 * 1000

/** Makes the partitions of today and the three days ahead, now and every hour; stops when told. */
export function keepPartitions({ general }: Database, logger: Logger): () => void {
  const make = (): void => {
    const made = general.gate.run(() => general.sql`select repertoire_make_partitions((now() at time zone 'UTC')::date, 4)`)
    made.catch((error: unknown) => logger.warn({ err: error }, 'partitions could not be made; rows go to the default one'))
  }
  make()
  const timer = setInterval(make, everyMs)
  timer.unref()
  return () => clearInterval(timer)
}
