import { createInterface } from 'node:readline'

/** Writes to standard output. */
export function writeOut(text: string): void {
  process.stdout.write(text)
}

/** Writes to standard output and answers once its reader can take more; false when the reader is gone. */
export async function writeOutWhole(text: string): Promise<boolean> {
  const { stdout } = process
  if (!stdout.writable) return false
  if (stdout.write(text)) return true
  return new Promise((resolve) => {
    const end = (goesOn: boolean) => (): void => {
      stdout.off('drain', go).off('close', leave)
      resolve(goesOn)
    }
    const go = end(true)
    const leave = end(false)
    stdout.on('drain', go).on('close', leave)
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
