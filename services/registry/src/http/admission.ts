import type { Endpoint } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { createSlots, type Slots } from '../slots.ts'
import type { HttpDeps } from './door.ts'

const longestWaitMs = 250
const ranks = { read: 0, call: 1, log: 2, export: 3 } as const

/** Makes the places of all requests: calls fill so many, reading the catalogue and managing always finds room above that, questions to the log stay below. */
export function createAdmission(concurrency: number): Slots {
  const least = (share: number): number => Math.max(1, Math.ceil(concurrency * share))
  return createSlots({ limits: [concurrency + least(0.25), concurrency, least(0.5), least(0.125)], queue: concurrency * 2, foresees: true })
}

/**
 * How much a route matters when there is too much: undefined where it is never kept out, which is so for health, for stepping
 * back, and for what waits by its nature and has a bound of its own.
 */
export function rankOf({ path, method, access }: Endpoint): number | undefined {
  if (access === 'anyone' || method === 'DELETE' || /\/(rollback|pause|block|revert|cancel)$/.test(path)) return undefined
  if (path === '/v1/calls/{id}' || path.endsWith('/tail')) return undefined
  if (path.endsWith('/{name}/calls') || path.endsWith('/replay')) return ranks.call
  if (path.endsWith('/export')) return ranks.export
  return /^\/v1\/(calls|stats|audit)/.test(path) ? ranks.log : ranks.read
}

/** Lets a request in, after a short wait at most, or refuses it at once so that it costs nothing. */
export async function admit<T>(deps: HttpDeps, rank: number, enter: (queuedMs: number) => Promise<T>): Promise<T> {
  const started = performance.now()
  const leave = await deps.admission.take(longestWaitMs, rank)
  if (leave === undefined)
    throw new Refusal('BUSY', 'This replica has as much to do as it can.', {
      hint: 'come back in a moment, with fewer requests at once',
      headers: { 'Retry-After': '1' },
    })
  try {
    return await enter(performance.now() - started)
  } finally {
    leave()
  }
}
