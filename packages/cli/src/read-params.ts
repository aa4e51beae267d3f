import { limits } from '@repertoire/contract/sdk'
import { readFile } from 'node:fs/promises'
import { CommandError, usageError } from './command-error.ts'

/** Where the text of `-` comes from. */
export type Input = AsyncIterable<Uint8Array | string>

/** Reads the arguments of a call: JSON itself, `-` for standard input, or `@file`. What parsing would change without a word is refused. */
export async function readParams(given: string, input: Input): Promise<Record<string, unknown>> {
  const text = await readText(given, input)
  const { scanJson } = await import('@repertoire/core')
  const value = parse(text)
  // The registry would look for the same in what it is sent, but by then parsing here has hidden it.
  const problem = scanJson(text, limits.jsonDepth)
  if (problem !== undefined)
    throw refuse(`The arguments cannot be taken: ${problem.message}.`, problem.fix, { path: problem.path, rule: problem.rule })
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse('The arguments of a call are a JSON object.', 'write them like {"order_id": "123"}')
  return value as Record<string, unknown>
}

async function readText(given: string, input: Input): Promise<string> {
  if (given === '-') return decode(await readAll(input))
  if (!given.startsWith('@')) return given
  const file = given.slice(1)
  const bytes = await readFile(file).catch((error: unknown) => {
    throw usageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}.`, 'name a file of JSON after @')
  })
  return decode(bytes)
}

async function readAll(input: Input): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of input) {
    chunks.push(Buffer.from(chunk as Uint8Array))
    bytes += chunk.length
    if (bytes > limits.jsonBodyBytes) throw refuse(`The arguments are larger than ${limits.jsonBodyBytes} bytes.`, 'send less')
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw refuse('The arguments are not UTF-8.', 'save them as UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refuse(
      `The arguments are not JSON: ${error instanceof Error ? error.message : 'unknown'}.`,
      text.trim() === '' ? 'nothing was given; write {} for none' : 'write them like \'{"order_id": "123"}\', in single quotes',
    )
  }
}

function refuse(message: string, hint: string, detail?: { readonly path: string; readonly rule: string }): CommandError {
  return new CommandError({
    exit: 'badInput',
    code: 'INVALID_INPUT',
    message,
    hint,
    ...(detail === undefined ? {} : { details: [detail] }),
  })
}
