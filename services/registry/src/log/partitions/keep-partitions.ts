import type { Logger } from 'pino'
import type { Database } from '../../store/connect.ts'
import { keepOnce, type Kept } from './keep-once.ts'
import type { Retention } from './retention.ts'

/** The partitions of the log: what is not as it should be with them, and how many rows lie in a default one. */
export type Partitions = { readonly trouble: () => readonly string[]; readonly strayRows: () => number; readonly stop: () => Promise<void> }

const everyMs = 60 * 60 * 1000
const againMs = 60 * 1000

/** Makes partitions ahead, moves what lies in a default one, and drops what is old: now and every hour, by one replica at a time. */
export function keepPartitions(
  database: Database,
  { logger, retention }: { readonly logger: Logger; readonly retention: Retention },
): Partitions {
  let kept: Kept = { strayRows: 0, isAhead: true }
  let failures = 0
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  const round = async (): Promise<void> => {
    try {
      kept = await database.maintain((sql) => keepOnce(sql, retention))
      failures = 0
      if (kept.strayRows > 0) logger.error({ rows: kept.strayRows }, 'rows of the log lie in a default partition')
      if (!kept.isAhead) logger.error('there is no partition for tomorrow')
    } catch (error) {
      failures += 1
      logger.warn({ err: error }, 'the partitions of the log could not be looked after')
    }
    if (isStopped) return
    timer = setTimeout(start, failures === 0 && kept.isAhead ? everyMs : againMs)
    timer.unref()
  }
  const start = (): void => void (running = round())
  start()
  return {
    trouble: () => [
      ...(kept.strayRows > 0 ? ['log_default_partition'] : []),
      ...(kept.isAhead ? [] : ['log_partitions_missing']),
      // One failure may be a lock that was held; a day of them ends in the default partition.
      ...(failures > 3 ? ['log_upkeep_failing'] : []),
    ],
    strayRows: () => kept.strayRows,
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
