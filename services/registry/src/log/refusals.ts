import { errorCatalogue, type ErrorCode } from '@repertoire/contract'
import type { Logger } from 'pino'
import type { Refusals } from '../counted.ts'
import type { Database } from '../store/connect.ts'
import { withDeadline } from './with-deadline.ts'
import { countRefusals, writeRefusals, type RefusalCounter } from './counts/count-refusals.ts'

/** Refusals that are brought to Postgres; `save` does so now. */
export type OpenRefusals = Refusals & { readonly save: () => Promise<void>; readonly stop: () => Promise<void> }

/** What counting takes. */
export type RefusalsOptions = {
  readonly database: Database
  readonly instance: string
  readonly now: () => number
  readonly logger: Logger
}

type Kept = RefusalCounter & { saved: number }

const minuteMs = 60_000
const saveEveryMs = 5000
const saveOwnMs = 400
const stopMs = 800
/** So many agents and codes are told apart in a minute. */
const mostInMinute = 500
/** What a database that is away for longer than this has not heard of is forgotten, the oldest first. */
const mostMinutes = 24 * 60
/** So many are written at once: what an outage left behind takes longer than one question may. */
const rowsAtOnce = 1000
/** A clock that is set back by less than this comes into minutes that are still known, and goes on counting there. */
const knownMs = 10 * minuteMs
const withoutRow: ReadonlySet<number> = new Set([401, 429, 503])

/**
 * Counts what is turned away. Whoever is let in leaves a row; a row for everybody who is not would make an overload worse, so
 * these are numbers of a minute, written every few seconds as what this process has counted in all: twice is the same.
 */
export function openRefusals({ database: { log, reading }, instance, now, logger }: RefusalsOptions): OpenRefusals {
  const byCode = new Map<ErrorCode, number>()
  const minutes = new Map<number, Map<string, Kept>>()
  let saving: Promise<void> | undefined
  let next: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const unsaved = (): Kept[] => [...minutes.values()].flatMap((kept) => [...kept.values()].filter((each) => each.refusals > each.saved))
  const saveSome = async (counters: readonly Kept[]): Promise<void> => {
    const written = counters.map((counter) => ({ ...counter }))
    await log.gate.run(() => writeRefusals(log.sql, instance, written))
    for (const [index, counter] of counters.entries()) counter.saved = written[index]?.refusals ?? counter.saved
  }
  const saveAll = async (): Promise<void> => {
    const counters = unsaved()
    for (let from = 0; from < counters.length; from += rowsAtOnce) await saveSome(counters.slice(from, from + rowsAtOnce))
    const oldest = minuteOf(now()) - knownMs
    for (const [minute, kept] of minutes) if (minute < oldest && [...kept.values()].every(isSaved)) minutes.delete(minute)
  }
  // What is under way has been read already: whoever counted meanwhile, or asks, waits for the one after it.
  const save = (): Promise<void> => {
    if (saving === undefined) return (saving = saveAll().finally(() => (saving = undefined)))
    next ??= saving
      .catch(() => undefined)
      .then(() => {
        next = undefined
        return save()
      })
    return next
  }
  const saveLater = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      save().catch((error: unknown) => {
        logger.debug({ err: error }, 'refusals could not be counted yet')
        saveLater()
      })
    }, saveEveryMs).unref()
  }
  const counterOf = (minute: number, agentId: string, code: ErrorCode): Kept => {
    const kept = minutes.get(minute) ?? new Map<string, Kept>()
    if (!minutes.has(minute)) {
      minutes.set(minute, kept)
      for (const oldest of minutes.keys()) if (minutes.size > mostMinutes) minutes.delete(oldest)
    }
    const found = kept.get(`${code} ${agentId}`)
    if (found !== undefined) return found
    if (kept.size >= mostInMinute && agentId !== '') return counterOf(minute, '', code)
    const made = { minute, agentId, code, refusals: 0, saved: 0 }
    kept.set(`${code} ${agentId}`, made)
    return made
  }
  return {
    note: (code, agentId, hasRow = false) => {
      byCode.set(code, (byCode.get(code) ?? 0) + 1)
      if (hasRow || !withoutRow.has(errorCatalogue[code].status)) return
      counterOf(minuteOf(now()), agentId ?? '', code).refusals += 1
      saveLater()
    },
    byCode: () => byCode,
    count: async (question) => {
      // What this replica has counted is there when it is asked; what others have, a few seconds later.
      await withDeadline(save(), saveOwnMs).catch(() => undefined)
      return reading.gate.run(() => countRefusals(reading.sql, question))
    },
    save,
    stop: async () => {
      clearTimeout(timer)
      await withDeadline(save(), stopMs).catch(() => undefined)
    },
  }
}

function minuteOf(ms: number): number {
  return Math.floor(ms / minuteMs) * minuteMs
}

function isSaved({ refusals, saved }: Kept): boolean {
  return saved >= refusals
}
