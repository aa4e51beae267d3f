import type { Repertoire } from '@repertoire/sdk'
import { apiPath } from './api-path.ts'
import { CommandError } from './command-error.ts'

/** A part of a whole result, as the registry answers it. */
export type ResultPart = {
  readonly total_bytes: number
  readonly text: string | null
  readonly items: readonly unknown[] | null
  readonly lines: readonly string[] | null
  readonly next: string | null
}

// 32 MiB, the most that is kept of a result, in pieces of 64 KiB, and twice that.
const mostPieces = 1024

/** One part of a result: some items, some lines, or the piece at a cursor. */
export async function readPart(registry: Repertoire, id: string, query: Readonly<Record<string, string | undefined>>): Promise<ResultPart> {
  return (await registry.transport.send<ResultPart>('GET', apiPath`/v1/calls/${id}/result`, { query })).data
}

/** The exact text of a result, piece by piece to its end. */
export async function* followResult(registry: Repertoire, id: string): AsyncGenerator<string> {
  let cursor: string | undefined
  for (let pieces = 0; pieces < mostPieces; pieces += 1) {
    const { text, next } = await readPart(registry, id, { cursor })
    yield text ?? ''
    if (next === null) return
    cursor = new URL(next, 'http://registry').searchParams.get('cursor') ?? undefined
    if (cursor === undefined) break
  }
  throw new CommandError({
    exit: 'bug',
    code: 'NO_END',
    message: 'The registry does not say where the rest of the result is.',
    hint: 'what was written so far is not the whole',
  })
}
