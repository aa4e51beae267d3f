import type { Finding } from '@repertoire/contract'
import { Refusal, type SchemasToProve } from '@repertoire/core'
import { Worker } from 'node:worker_threads'

/** Proves schemas away from the event loop. */
export type Prover = { readonly prove: (schemas: SchemasToProve) => Promise<readonly Finding[]>; readonly stop: () => Promise<void> }

/** What the worker says: that it is loaded, then one list of findings for each thing it was sent. */
export type ProverMessage = 'ready' | readonly Finding[]

const deadlineMs = 2000
const loadDeadlineMs = 15_000
const maxWaiting = 256
// A worker has no loader for sources, so also the registry that runs from source uses the one that was built.
const program = new URL('../../dist/start/prove-worker.js', import.meta.url)

/**
 * Compiles untrusted schemas in a worker thread with a deadline and a memory cap: one that takes too long, or too much, ends
 * the worker and is refused, and the next gets a new one.
 */
export function createProver(): Prover {
  let worker: LoadedWorker | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let waiting = 0

  const proveNow = async (schemas: SchemasToProve): Promise<readonly Finding[]> => {
    try {
      worker ??= await loadWorker()
      return await worker.ask(schemas, deadlineMs)
    } catch (error) {
      await worker?.end()
      worker = undefined
      const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown'
      return [
        {
          level: 'error',
          file: schemas.input.file,
          line: 1,
          message: `the schemas could not be compiled: ${reason}`,
          fix: 'simplify the schemas',
        },
      ]
    }
  }
  return {
    prove: async (schemas) => {
      if (waiting >= maxWaiting) throw new Refusal('BUSY', 'Too many schemas wait to be compiled.', { headers: { 'Retry-After': '2' } })
      waiting += 1
      const mine = turn.then(() => proveNow(schemas))
      turn = mine.catch(() => undefined)
      return mine.finally(() => (waiting -= 1))
    },
    stop: async () => {
      await worker?.end()
    },
  }
}

type LoadedWorker = {
  readonly ask: (schemas: SchemasToProve, withinMs: number) => Promise<readonly Finding[]>
  readonly end: () => Promise<void>
}

async function loadWorker(): Promise<LoadedWorker> {
  const thread = new Worker(program, {
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    execArgv: [],
  })
  let settle: { readonly resolve: (message: ProverMessage) => void; readonly reject: (error: Error) => void } | undefined
  thread.on('message', (message: ProverMessage) => settle?.resolve(message))
  thread.on('error', (error: unknown) => settle?.reject(error instanceof Error ? error : new Error(String(error))))
  thread.on('exit', () => settle?.reject(new Error('the compiler ended')))
  const next = (withinMs: number): Promise<ProverMessage> => {
    let timer: NodeJS.Timeout | undefined
    const answered = new Promise<ProverMessage>((resolve, reject) => {
      settle = { resolve, reject }
      timer = setTimeout(() => reject(new Error(`it took longer than ${withinMs} ms`)), withinMs)
    })
    return answered.finally(() => clearTimeout(timer))
  }
  // Loading the compiler is our time, not that of whoever publishes first.
  await next(loadDeadlineMs)
  // An idle worker does not keep a process alive that has nothing else to do.
  thread.unref()
  return {
    ask: async (schemas, withinMs) => {
      const answer = next(withinMs)
      thread.postMessage(schemas)
      const message = await answer
      return message === 'ready' ? [] : message
    },
    end: async () => void (await thread.terminate()),
  }
}
