import type { Logger } from 'pino'
import type { Counts } from '../../counted.ts'
import type { Database } from '../../store/connect.ts'
import { countFeedback } from '../feedback.ts'
import { countCells } from './count-calls.ts'
import { countPlaces } from './count-places.ts'
import { countMissedSearches, countUnused, foldShown } from './count-shown.ts'
import { countArms, countVersions } from './count-units.ts'
import { keepMeasured } from './keep-measured.ts'

/** Counts that are kept up to date. */
export type OpenCounts = Counts & { readonly refreshMeasured: () => Promise<void>; readonly stop: () => Promise<void> }

const shownEveryMs = 30_000

/** Opens what is counted of the log; `settle` answers once this replica's own calls are counted. */
export function openCounts(
  { reading }: Database,
  { logger, settle }: { readonly logger: Logger; readonly settle: () => Promise<void> },
): OpenCounts {
  const measured = keepMeasured({ reading, logger })
  let folding: Promise<void> | undefined
  const foldAllShown = (): Promise<void> => {
    folding ??= (async () => {
      while ((await reading.gate.run(() => foldShown(reading.sql))) > 0);
    })().finally(() => (folding = undefined))
    return folding
  }
  const timer = setInterval(() => {
    void foldAllShown().catch((error: unknown) => logger.debug({ err: error }, 'what was shown could not be counted yet'))
  }, shownEveryMs)
  timer.unref()
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    await settle()
    return reading.gate.run(work)
  }
  return {
    calls: (question) => counted(() => countCells(reading.sql, question)),
    arms: (rolloutId) => counted(() => countArms(reading.sql, rolloutId)),
    versions: (question) => counted(() => countVersions(reading.sql, question)),
    places: (question) => counted(() => countPlaces(reading.sql, question)),
    feedback: (question) => reading.gate.run(() => countFeedback(reading.sql, question)),
    unused: async (question) => {
      await foldAllShown()
      return counted(() => countUnused(reading.sql, question))
    },
    missedSearches: (question) => reading.gate.run(() => countMissedSearches(reading.sql, question)),
    measured: measured.of,
    refreshMeasured: measured.refresh,
    stop: async () => {
      clearInterval(timer)
      measured.stop()
      await folding?.catch(() => undefined)
    },
  }
}
