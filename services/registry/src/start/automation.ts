import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import type { Deps } from '../ports.ts'
import { advanceRollouts } from '../rollouts/advance-rollouts.ts'

const everyMs = 1000
// A replica that has not heard of the database lately leaves the steps to one that has.
const confirmedWithinMs = 10_000

/** Takes the steps of scheduled rollouts as they fall due; stops when told. */
export function startAutomation(deps: Deps, logger: Logger): () => Promise<void> {
  let isStopped = false
  let running: Promise<void> = Promise.resolve()
  const round = async (): Promise<void> => {
    if (deps.unconfirmedMs() > confirmedWithinMs) return
    for (const advanced of await advanceRollouts(deps)) {
      if ('action' in advanced) logger.info(advanced, 'a rollout moved by itself')
      else if (!(advanced.fault instanceof Refusal))
        logger.error({ err: advanced.fault, rollout: advanced.rollout }, 'a rollout could not move')
    }
  }
  const timer = setInterval(() => {
    running = running
      .then(() => (isStopped ? undefined : round()))
      .catch((error: unknown) => logger.error({ err: error }, 'automation failed'))
  }, everyMs)
  timer.unref()
  return async () => {
    isStopped = true
    clearInterval(timer)
    await running
  }
}
