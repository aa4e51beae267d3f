import { percentile } from '@repertoire/core'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { MeasuredVersion } from '../../counted.ts'
import type { Pool } from '../../store/connect.ts'
import { countCells } from './count-calls.ts'

const everyMs = 60_000
const windowDays = 7
const mostVersions = 20_000

/** What calls of each version took in the last week, read anew every minute and answered from memory. */
export type Measurements = {
  readonly of: (skill: string, version: string) => MeasuredVersion | undefined
  readonly refresh: () => Promise<void>
  readonly stop: () => void
}

/** Keeps such measurements; a database that is away leaves them as they were. */
export function keepMeasured({ reading, logger }: { readonly reading: Pool; readonly logger: Logger }): Measurements {
  let measured: ReadonlyMap<string, MeasuredVersion> = new Map()
  const refresh = async (): Promise<void> => {
    measured = await reading.gate.run(() => measure(reading.sql))
  }
  const quietly = (): void => void refresh().catch((error: unknown) => logger.debug({ err: error }, 'versions could not be measured'))
  const timer = setInterval(quietly, everyMs)
  timer.unref()
  quietly()
  return { of: (skill, version) => measured.get(`${skill}@${version}`), refresh, stop: () => clearInterval(timer) }
}

async function measure(sql: postgres.Sql): Promise<ReadonlyMap<string, MeasuredVersion>> {
  const today = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const cells = await countCells(sql, {
    source: 'call_days',
    window: { from: new Date(today - (windowDays - 1) * 86_400_000), to: new Date(today + 86_400_000) },
    interval: 'none',
    groupBy: ['skill', 'version'],
    filters: {},
    limit: mostVersions,
  })
  return new Map(
    cells
      .filter((cell) => cell.names.version !== '')
      .map((cell) => [
        `${cell.names.skill ?? ''}@${cell.names.version ?? ''}`,
        {
          calls: cell.calls,
          p50Ms: percentile(cell.histogram, 0.5) ?? 0,
          p95Ms: percentile(cell.histogram, 0.95) ?? 0,
          meanResultBytes: cell.ok === 0 ? 0 : Math.round(cell.outputBytes / cell.ok),
          failureRate: cell.ok + cell.failures === 0 ? 0 : cell.failures / (cell.ok + cell.failures),
        },
      ]),
  )
}
