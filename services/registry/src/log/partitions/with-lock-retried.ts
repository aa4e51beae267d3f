import { setTimeout as pause } from 'node:timers/promises'
import { databaseErrorCode } from '../../store/database-error.ts'

const mostTries = 60
const pauseMs = 250
const lockNotAvailable = '55P03'

/** Tries what needs a table for itself until it gets it. Each try gives up soon, so that nobody waits behind it for long. */
export async function withLockRetried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (error) {
      if (databaseErrorCode(error) !== lockNotAvailable || tries === mostTries) throw error
      await pause(pauseMs)
    }
  }
}
