import type { Logger } from 'pino'
import { setTimeout as pause } from 'node:timers/promises'
import { probeUnknown } from '../calls/probe-unknown.ts'
import type { Deps } from '../ports.ts'

const everyMs = 5000
// Whoever has not heard of the database lately does not know what agents may do now.
const confirmedWithinMs = 10_000
/** What is asked at the end is asked again by another replica, once nobody holds it any more. */
const lastMs = 500

/** Asks, every five seconds, after calls of which nobody knows how they ended; stops when told. */
export function startProbing(deps: Deps, logger: Logger): () => Promise<void> {
  let running: Promise<void> | undefined
  const round = async (): Promise<void> => {
    if (deps.unconfirmedMs() > confirmedWithinMs) return
    for (const asked of await probeUnknown(deps)) {
      if ('fault' in asked) logger.warn({ err: asked.fault, call_id: asked.call }, 'a lost call could not be asked after')
      else if (asked.became === 'left') logger.warn(asked, 'a lost call is left to an operator')
      else logger.info(asked, 'a lost call was asked after')
    }
  }
  const timer = setInterval(() => {
    running ??= round()
      .catch((error: unknown) => logger.debug({ err: error }, 'lost calls could not be asked after'))
      .finally(() => (running = undefined))
  }, everyMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await Promise.race([running, pause(lastMs)])
  }
}
