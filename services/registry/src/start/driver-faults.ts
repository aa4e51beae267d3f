import type { Logger } from 'pino'
import { isDriverFault } from '../store/driver-fault.ts'

/** Lives on after faults that the database driver throws at nobody; any other error that nobody catches ends the process as ever. */
export function ignoreDriverFaults(logger: Logger): { readonly lastAt: () => number; readonly stop: () => void } {
  let lastAt = Number.NEGATIVE_INFINITY
  const listen = (error: unknown): void => {
    if (isDriverFault(error)) {
      lastAt = performance.now()
      return logger.warn({ err: error }, 'the database driver wrote to a connection that had closed')
    }
    logger.fatal({ err: error }, 'an error that nobody caught')
    process.exit(1)
  }
  process.on('uncaughtException', listen)
  return { lastAt: () => lastAt, stop: () => void process.off('uncaughtException', listen) }
}
