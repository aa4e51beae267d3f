import { Refusal } from '@repertoire/core'

/** Waits for work of the log for so long, and no longer; what comes of it later is nobody's any more. */
export async function withDeadline<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal('LOG_UNAVAILABLE', 'The call log did not take the row in time.')), ms)
  })
  work.catch(() => undefined)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
