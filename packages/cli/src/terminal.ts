import { createInterface } from 'node:readline'

/** Writes to standard output. */
export function writeOut(text: string): void {
  process.stdout.write(text)
}

/** Writes to standard output as fast as its reader takes it. */
export async function writeOutSlowly(text: string): Promise<void> {
  if (process.stdout.write(text) || process.stdout.destroyed) return
  // A reader that has gone away takes nothing more, and there is nothing to wait for.
  await new Promise<void>((resolve) => {
    const go = (): void => {
      process.stdout.off('drain', go).off('close', go).off('error', go)
      resolve()
    }
    process.stdout.once('drain', go).once('close', go).once('error', go)
  })
}

/** Writes to standard error. */
export function writeErr(text: string): void {
  process.stderr.write(text)
}

/** How many columns a person sees; undefined where the output goes to a file or another program. */
export function outputWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns : undefined
}

/** Whether a person watches standard error. */
export function isWatched(): boolean {
  return process.stderr.isTTY
}

/** A reader that goes away, as `head` does, ends nothing; an output that cannot be written is told and ends with 1. */
export function surviveClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return
    process.stderr.write(`repertoire: the output could not be written: ${error.message}\n`)
    process.exitCode ||= 1
  })
  process.stderr.on('error', () => undefined)
}

/** Standard input, as it arrives. */
export function standardInput(): AsyncIterable<Uint8Array | string> {
  return process.stdin
}

/** Whether a person types standard input. */
export function isTyped(): boolean {
  return process.stdin.isTTY
}

/** Whether somebody can read a question and type the answer. */
export function canAnswer(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** How many columns standard error has; undefined where it is no terminal. */
export function errorWidth(): number | undefined {
  return process.stderr.isTTY ? process.stderr.columns : undefined
}

/** Asks on standard error and reads one line; an end of the input or Ctrl-C is an empty answer. */
export function askLine(question: string): Promise<string> {
  return new Promise((resolve) => {
    const reader = createInterface({ input: process.stdin, output: process.stderr })
    const leave = (): void => {
      writeErr('\n')
      resolve('')
    }
    reader.once('close', leave)
    reader.question(question, (answer) => {
      reader.off('close', leave)
      reader.close()
      resolve(answer)
    })
  })
}
