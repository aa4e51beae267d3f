import type { Outcome } from '@repertoire/contract'
import { groupBy, percentile, type Histogram } from '@repertoire/core'
import type { Logger } from 'pino'
import type postgres from 'postgres'
import type { CountedCell, MeasuredVersion } from '../../counted.ts'
import type { Pool } from '../../store/connect.ts'
import { countCells } from './count-calls.ts'

const everyMs = 60_000
const windowDays = 7
const mostCells = 60_000

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
    groupBy: ['skill', 'version', 'outcome'],
    filters: {},
    limit: mostCells,
  })
  const versions = groupBy(
    cells.filter(({ names }) => names.version !== ''),
    ({ names }) => `${names.skill ?? ''}@${names.version ?? ''}`,
  )
  return new Map([...versions].map(([version, ofVersion]) => [version, measureOne(ofVersion)]))
}

function measureOne(cells: readonly CountedCell[]): MeasuredVersion {
  const [calls, ok, failed] = [sum(cells, 'calls'), sum(cells, 'ok'), sum(cells, 'failures')]
  // How long it takes is what calls took that were carried out: to be refused takes no time.
  const times = addUp(cells.filter(({ names }) => carriedOut.has(names.outcome ?? '')))
  return {
    calls,
    p50Ms: percentile(times, 0.5) ?? 0,
    p95Ms: percentile(times, 0.95) ?? 0,
    meanResultBytes: ok === 0 ? 0 : Math.round(sum(cells, 'outputBytes') / ok),
    failureRate: ok + failed === 0 ? 0 : failed / (ok + failed),
  }
}

const carriedOut = new Set<string>(['ok', 'skill_error', 'executor_error', 'output_mismatch', 'timeout'] satisfies Outcome[])

function sum(cells: readonly CountedCell[], of: 'calls' | 'ok' | 'failures' | 'outputBytes'): number {
  return cells.reduce((total, cell) => total + cell[of], 0)
}

function addUp(cells: readonly CountedCell[]): Histogram {
  const all = new Map<number, number>()
  for (const { histogram } of cells) for (const [bucket, count] of histogram) all.set(bucket, (all.get(bucket) ?? 0) + count)
  return all
}
