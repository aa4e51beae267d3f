import type { VersionRecord } from '@repertoire/core'
import type { Execution, Executor, ExecutorResult, Executors } from '../ports.ts'
import { createSlots, type Slots } from '../slots.ts'
import { createBreaker, type Breaker } from './breaker.ts'

/** How many calls one upstream carries out at once, by the kind of its executor. */
export type GuardOptions = { readonly perConnection: number; readonly perCodeSkill: number }

type Guard = { readonly slots: Slots; readonly breaker: Breaker }

const longestWaitMs = 250
const mostGuards = 10_000
/** Whoever was given so long, or half of what its skill may take, and did not answer, hangs. */
const fairMs = 5000

/**
 * Puts a bulkhead and a circuit breaker before every upstream: a connection, or a code skill. One that hangs fills its own
 * places and nobody else's; one that fails is left alone for a while, so that its callers hear so at once.
 */
export function guardExecutors(executors: Executors, { perConnection, perCodeSkill }: GuardOptions): Executors {
  const guards = new Map<string, Guard>()
  const guardOf = (upstream: string, places: number): Guard => {
    const known = guards.get(upstream)
    if (known !== undefined) return known
    // Names come from the catalogue; after very many, those that nobody uses right now are forgotten.
    if (guards.size >= mostGuards)
      for (const [name, { slots }] of guards) if (slots.inUse() === 0 && slots.waiting() === 0) guards.delete(name)
    const made = { slots: createSlots({ limits: [places], queue: places * 2 }), breaker: createBreaker() }
    guards.set(upstream, made)
    return made
  }
  const guarded = (executor: Executor): Executor => ({
    execute: async (execution) => {
      const { version, connection } = execution
      const isCode = version.kind === 'code'
      const upstream = isCode ? `code ${version.manifest.name}` : `connection ${connection?.name ?? ''}`
      const { slots, breaker } = guardOf(upstream, isCode ? perCodeSkill : perConnection)
      const started = performance.now()
      const leave = await slots.take(Math.min(longestWaitMs, execution.timeoutMs))
      const waitedMs = performance.now() - started
      execution.onQueued(waitedMs)
      if (leave === undefined) return tooMany(execution)
      try {
        const closedForMs = breaker.closedForMs()
        if (closedForMs > 0) return leftAlone(execution, closedForMs)
        const timeoutMs = Math.max(1, execution.timeoutMs - waitedMs)
        const result = await executor.execute({ ...execution, timeoutMs })
        const tellsNothing = execution.signal?.aborted === true || isTooHasty(result, timeoutMs, version)
        breaker.note(tellsNothing ? undefined : isUpstreamAtFault(result, isCode))
        return result
      } finally {
        leave()
      }
    },
  })
  return { code: guarded(executors.code), http: guarded(executors.http), mcp: guarded(executors.mcp) }
}

// A caller may give up as early as it likes: that says nothing of the upstream, nor may it keep others from calling it.
function isTooHasty(result: ExecutorResult, timeoutMs: number, { manifest }: VersionRecord): boolean {
  return result.kind === 'failed' && result.code === 'TIMEOUT' && timeoutMs < Math.min(manifest.timeout_ms / 2, fairMs)
}

// What a skill's own code does wrong says nothing of the runner; what a connection answers says something of what is behind it.
function isUpstreamAtFault(result: ExecutorResult, isCode: boolean): boolean {
  if (result.kind !== 'failed') return false
  if (result.code === 'EXECUTOR_UNREACHABLE') return true
  if (isCode) return false
  return (
    result.code === 'TIMEOUT' || result.reason === 'connection_lost' || (result.reason === 'upstream_status' && result.isTransient === true)
  )
}

function tooMany({ version }: Execution): ExecutorResult {
  return {
    kind: 'failed',
    code: 'BUSY',
    reason: 'bulkhead',
    message: `What carries ${version.manifest.name} out has as many calls under way as it may have.`,
    details: [],
  }
}

function leftAlone({ version }: Execution, forMs: number): ExecutorResult {
  return {
    kind: 'failed',
    code: 'EXECUTOR_UNREACHABLE',
    reason: 'circuit_open',
    message: `What carries ${version.manifest.name} out has failed too often lately, and is left alone for ${Math.ceil(forMs / 1000)} s.`,
    details: [],
  }
}
