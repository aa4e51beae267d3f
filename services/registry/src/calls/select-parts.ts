import { createItemReader, createLineReader, Refusal, type PartReader } from '@repertoire/core'

/** Some items of an array, or some lines of a text, from first to last. */
export type PartsWanted = { readonly items: string } | { readonly lines: string }

type Piece = { readonly text: string; readonly pieces: number; readonly totalBytes: number }

/** What was found: lines, or items as the exact text of each. */
export type PartsFound = {
  readonly totalBytes: number
  readonly parts: { readonly items: string[] } | { readonly lines: string[] }
}

const mostCharacters = 1024 * 1024

/** Reads a result piece by piece until what was asked for is there; never more than a piece and that is in memory. */
export async function selectParts(piece: (number: number) => Promise<Piece>, wanted: PartsWanted): Promise<PartsFound> {
  const [from = 0, to = 0] = ('items' in wanted ? wanted.items : wanted.lines).split('-').map(Number)
  const span = { from, to, mostCharacters }
  const reader: PartReader = 'items' in wanted ? createItemReader(span) : createLineReader(span)
  let totalBytes = 0
  for (let number = 0, pieces = 1; number < pieces; number += 1) {
    const next = await piece(number)
    pieces = next.pieces
    totalBytes = next.totalBytes
    if (!reader.read(next.text)) break
  }
  const found = reader.end()
  if (found === 'not_an_array')
    throw new Refusal('INVALID_REQUEST', 'The result is no array, so it has no items.', { hint: 'ask for lines, or for pieces by cursor' })
  if (found === 'too_large')
    throw new Refusal('TOO_LARGE', `What was asked for has more than ${mostCharacters} characters.`, {
      hint: 'ask for fewer at once, or for pieces by cursor',
    })
  return { totalBytes, parts: 'items' in wanted ? { items: found } : { lines: found } }
}
