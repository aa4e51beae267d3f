import type { Finding } from '@repertoire/contract'
import type { SchemasToProve } from '@repertoire/core'
import { Worker } from 'node:worker_threads'

/** Proves schemas away from the event loop. */
export type Prover = { readonly prove: (schemas: SchemasToProve) => Promise<readonly Finding[]>; readonly stop: () => Promise<void> }

const deadlineMs = 2000
const maxWaiting = 256

/**
 * Compiles untrusted schemas in a worker thread with a deadline and a memory cap: one that takes too long, or too much, ends
 * the worker and is refused, and the next gets a new one.
 */
export function createProver(): Prover {
  let worker: Worker | undefined
  let turn: Promise<unknown> = Promise.resolve()
  let waiting = 0

  const proveNow = async (schemas: SchemasToProve): Promise<readonly Finding[]> => {
    worker ??= new Worker(new URL('./prove-worker.js', import.meta.url), { resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 }, env: {} })
    const current = worker
    current.ref()
    let timer: NodeJS.Timeout | undefined
    try {
      return await new Promise<readonly Finding[]>((resolve) => {
        const give = (message: string): void => {
          worker = undefined
          void current.terminate()
          resolve([{ level: 'error', file: schemas.input.file, line: 1, message, fix: 'simplify the schemas' }])
        }
        timer = setTimeout(() => give(`compiling the schemas took longer than ${deadlineMs} ms`), deadlineMs)
        current.once('message', resolve)
        current.once('error', (error) => give(`the schemas could not be compiled: ${error.message.slice(0, 200)}`))
        current.postMessage(schemas)
      })
    } finally {
      clearTimeout(timer)
      current.removeAllListeners()
      current.unref()
    }
  }
  return {
    prove: async (schemas) => {
      if (waiting >= maxWaiting) return [{ level: 'error', file: schemas.input.file, line: null, message: 'too many schemas wait to be compiled', fix: 'publish again in a moment' }]
      waiting += 1
      const mine = turn.then(() => proveNow(schemas))
      turn = mine.catch(() => undefined)
      return mine.finally(() => (waiting -= 1))
    },
    stop: async () => {
      await worker?.terminate()
    },
  }
}
