import { setTimeout as pause } from 'node:timers/promises'
import type { Deps, Execution, ExecutorResult } from '../ports.ts'
import type { CallInProgress } from './call-in-progress.ts'

const mostRetries = 2
const firstPauseMs = 100
/** Less time than this is not worth another attempt. */
const leastLeftMs = 20

/** What is tried, by which executor. */
export type Attempts = { readonly kind: keyof Deps['executors']; readonly attempt: Omit<Execution, 'timeoutMs'> }

/**
 * Executes until an answer counts: what cannot do harm twice is tried again after a failure that may pass, at most twice,
 * after a random pause, within the deadline, and never more than every tenth call of a skill.
 */
export async function executeWithRetry(deps: Deps, call: CallInProgress, { kind, attempt }: Attempts): Promise<ExecutorResult> {
  const { manifest } = attempt.version
  if (call.isOver()) return tooLate
  const budget = deps.retryBudget(manifest.name)
  budget.earn()
  const mayRepeat = manifest.effects !== 'once'
  for (let attempts = 1; ; attempts += 1) {
    const result = await deps.executors[kind].execute({ ...attempt, timeoutMs: call.leftMs() })
    call.measured({ attempts })
    if (!mayRepeat || attempts > mostRetries || attempt.signal?.aborted === true || !mayPass(result)) return result
    const pauseMs = fullJitter(deps, firstPauseMs * 2 ** (attempts - 1))
    if (call.leftMs() - pauseMs < leastLeftMs || !budget.spend()) return result
    await pause(pauseMs)
  }
}

// Keys, places and the disk were waited for: what nobody waits for any more is not begun, least of all what happens once.
const tooLate: ExecutorResult = {
  kind: 'failed',
  code: 'TIMEOUT',
  reason: 'before_start',
  message: 'The deadline passed before it began.',
  details: [],
}

// Failures of a moment: the network, a time-out upstream, 429 and 5xx. A skill that broke breaks again.
function mayPass(result: ExecutorResult): boolean {
  if (result.kind !== 'failed' || result.reason === 'circuit_open') return false
  return result.isTransient === true || ['network', 'connection_lost', 'runner'].includes(result.reason)
}

// Anything from nothing to the whole: callers that failed together do not come back together.
function fullJitter(deps: Deps, mostMs: number): number {
  const [low = 0, high = 0] = deps.ids.random(2)
  return (mostMs * (low + 256 * high)) / 65_536
}
