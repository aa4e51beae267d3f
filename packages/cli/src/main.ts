import { CommanderError } from 'commander'
import { usageError } from './command-error.ts'
import { exits } from './exit-codes.ts'
import { exitOf } from './exit-of.ts'
import { errorAsJson, explainError } from './explain-error.ts'
import { createProgram } from './program.ts'
import { surviveClosedPipes, writeErr, writeOut } from './terminal.ts'

/** Runs one command and leaves its exit code behind; the process ends by itself when all is written. */
async function main(argv: readonly string[]): Promise<void> {
  surviveClosedPipes()
  const isJson = argv.includes('--json')
  try {
    await createProgram({ isJson }).parseAsync([...argv])
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return
    const told = error instanceof CommanderError ? usageError(error.message.replace(/^error: /, '')) : error
    process.exitCode = exits[exitOf(told)].code
    if (isJson) writeOut(errorAsJson(told))
    else if (!(error instanceof CommanderError)) writeErr(explainError(told))
  }
}

await main(process.argv)
