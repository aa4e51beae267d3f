import type { Detail } from '@repertoire/sdk'
import type { Exit } from './exit-codes.ts'

/** What a command says when it cannot go on: a code for scripts, a sentence, and what to do about it. */
export type CommandErrorParts = {
  readonly exit: Exit
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly details?: readonly Detail[]
}

/** An expected no of the command line itself; what the registry says no to is a `RepertoireError`. */
export class CommandError extends Error {
  readonly exit: Exit
  readonly code: string
  readonly hint: string | undefined
  readonly details: readonly Detail[]

  constructor(parts: CommandErrorParts) {
    super(parts.message)
    this.name = 'CommandError'
    this.exit = parts.exit
    this.code = parts.code
    this.hint = parts.hint
    this.details = parts.details ?? []
  }
}

/** The error for a command that was not written as it should be. */
export function usageError(message: string, hint?: string): CommandError {
  return new CommandError({ exit: 'usage', code: 'USAGE', message, ...(hint === undefined ? {} : { hint }) })
}
