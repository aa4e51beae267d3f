import { RepertoireError } from '@repertoire/sdk'

/** Tries again what may be tried again, for as long as the registry has not been silent for too long. */
export type Patience = { readonly attempt: <T>(work: () => Promise<T>) => Promise<T> }

/** What patience is made of; times in milliseconds. */
export type PatienceOptions = {
  /** How long nothing may be answered before it is given up. */
  readonly patienceMs: number
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  readonly random: () => number
  /** Told before every pause. */
  readonly onPause: () => void
  /** Whether somebody ended the whole in the meantime. */
  readonly isOver: () => boolean
}

const firstPauseMs = 250
const longestPauseMs = 5000
const transientCodes = new Set(['BUSY', 'UNAVAILABLE', 'LOG_UNAVAILABLE', 'REQUEST_TIMEOUT', 'UNREACHABLE', 'NO_ANSWER'])

/** Makes patience for work that may be done twice, as a publish may. Every answer renews it, a refusal too. */
export function createPatience({ patienceMs, nowMs, sleep, random, onPause, isOver }: PatienceOptions): Patience {
  let answeredAtMs = nowMs()
  return {
    attempt: async (work) => {
      for (let tries = 0; ; tries += 1) {
        try {
          const result = await work()
          answeredAtMs = nowMs()
          return result
        } catch (error) {
          if (!isTransient(error)) {
            answeredAtMs = nowMs()
            throw error
          }
          if (isOver() || nowMs() - answeredAtMs >= patienceMs) throw error
          onPause()
          await sleep(Math.min(firstPauseMs * 2 ** tries, longestPauseMs) * (0.5 + random() / 2))
        }
      }
    },
  }
}

/** Whether the same request may well be answered a moment later. */
export function isTransient(error: unknown): boolean {
  if (!(error instanceof RepertoireError)) return false
  // A proxy whose registry is away answers with a page of its own.
  if (error.code === 'NOT_A_REGISTRY') return error.status >= 502 && error.status <= 504
  return error.origin !== 'skill' && transientCodes.has(error.code)
}
