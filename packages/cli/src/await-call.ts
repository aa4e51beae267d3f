import { RepertoireError, type Repertoire } from '@repertoire/sdk'
import { CommandError } from './command-error.ts'
import type { CallAnswered } from './say-call.ts'

/** What was lost with its process is told within a minute; whoever waits for it hears of that too. */
const lostMs = 90_000

/** Waits for the end of a call in the background, and answers or fails with it as if it had been waited for all along. */
export async function awaitCall(registry: Repertoire, id: string, withinMs: number): Promise<CallAnswered> {
  try {
    return await registry.backgroundCall(id).wait({ timeoutMs: withinMs + lostMs })
  } catch (error) {
    if (!(error instanceof RepertoireError) || error.code !== 'NO_END') throw error
    throw new CommandError({
      exit: 'unavailable',
      code: error.code,
      message: error.message,
      hint: `look at it again: repertoire calls ${id}`,
    })
  }
}
