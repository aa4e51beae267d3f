import type { Manifest } from '@repertoire/contract'
import { Refusal, type VersionRecord } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'

/** Who wants a place, and what it does in it. */
export type PlaceWanted<T> = {
  readonly version: VersionRecord
  readonly skillKey: string
  readonly signal: AbortSignal | null
  readonly work: (signal: AbortSignal | null) => Promise<T>
}

// Code is killed at its deadline, but a request is only hung up on: for a moment it goes on where it was sent, and whoever came
// next would be there beside it.
const hungUpMs = 1000

function wasHungUp(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false
  return error.code === 'TIMEOUT' || error.details.some(({ reason }) => reason === 'cancelled' || reason === 'connection_lost')
}

/**
 * Does some work in a place of a skill that is carried out only so often at once over all replicas; without such a limit at
 * once. Work whose place could not be kept is ended: somebody else may have it already.
 */
export async function holdPlace<T>(deps: Deps, call: CallInProgress, { version, skillKey, signal, work }: PlaceWanted<T>): Promise<T> {
  const { concurrency: slots, name } = version.manifest
  if (slots === undefined) return work(signal)
  const started = performance.now()
  const lease = await deps.leases.acquire({
    skillKey,
    slots,
    callId: call.id,
    parentCallId: call.parentCallId,
    waitMs: call.leftMs(),
    signal,
  })
  call.queued(performance.now() - started)
  if (lease === undefined) throw noPlace(version.manifest, signal?.aborted === true)
  let graceMs = 0
  try {
    const result = await work(signal === null ? lease.lost : AbortSignal.any([signal, lease.lost]))
    if (!lease.lost.aborted) return result
  } catch (error) {
    if (version.kind !== 'code' && wasHungUp(error)) graceMs = hungUpMs
    if (!lease.lost.aborted) throw error
  } finally {
    // The caller does not wait for that. What a process that stops leaves is free after its time.
    if (graceMs > 0) setTimeout(() => void lease.release(), graceMs).unref()
    else await lease.release()
  }
  throw new Refusal('EXECUTOR_FAILED', `The place of ${name} could not be kept while it was running, so it was ended.`, {
    effect: version.manifest.effects === 'read' ? 'none' : 'possible',
    details: [{ reason: 'place_lost' }],
  })
}

function noPlace({ name, concurrency: slots }: Manifest, isCancelled: boolean): Refusal {
  if (isCancelled)
    return new Refusal('EXECUTOR_FAILED', `The call was ended while it waited for a place of ${name}.`, {
      details: [{ reason: 'cancelled' }],
    })
  return new Refusal(
    'BUSY',
    `${name} is carried out at most ${slots === 1 ? 'once' : `${slots} times`} at once, and no place became free in time.`,
    {
      headers: { 'Retry-After': '1' },
      details: [{ reason: 'concurrency' }],
    },
  )
}
