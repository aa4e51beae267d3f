import { RepertoireError } from '@repertoire/sdk'
import { CommandError } from './command-error.ts'
import { exitOfStatus, type Exit } from './exit-codes.ts'

// Their status says "not now", but only another percentage or another version mends them.
const mendable = new Set(['NO_UNITS', 'CANARY_UNREACHABLE'])

/** How a command ends after an error: whoever said no decides first, then the HTTP status. */
export function exitOf(error: unknown): Exit {
  if (error instanceof CommandError) return error.exit
  if (!(error instanceof RepertoireError)) return 'bug'
  if (error.origin === 'network') return 'unavailable'
  // Its status says "later", but waiting builds no sandbox.
  if (error.code === 'CAGE_MISSING') return 'executorFailed'
  if (mendable.has(error.code)) return 'badInput'
  return error.origin === 'skill' ? 'skillError' : exitOfStatus(error.status)
}
