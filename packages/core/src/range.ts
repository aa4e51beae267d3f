import { limits } from '@repertoire/contract'
import { Range, type SemVer } from 'semver'
import { intervalsOf, type Interval } from './intervals.ts'
import { Refusal } from './refusal.ts'
import { parseExact } from './version.ts'

/** A range as it was asked for: an exact pin, or a set of versions. */
export type ParsedRange = {
  readonly text: string
  readonly pin: SemVer | undefined
  readonly range: Range
  readonly intervals: readonly Interval[]
  readonly unbounded: boolean
}

// Ranges come from clients, so what is remembered about them is bounded.
const maxRemembered = 4096
const remembered = new Map<string, ParsedRange>()

/** Parses a range an agent sent; throws INVALID_RANGE naming what is wrong with it. */
export function parseRange(raw: string): ParsedRange {
  const known = remembered.get(raw)
  if (known !== undefined) return known
  const parsed = parseFresh(raw)
  if (remembered.size >= maxRemembered) {
    const oldest = remembered.keys().next().value
    if (oldest !== undefined) remembered.delete(oldest)
  }
  remembered.set(raw, parsed)
  return parsed
}

/** Several ranges as one text that can be taken apart again: no range holds an ampersand. */
export function joinRanges(ranges: readonly ParsedRange[]): string {
  return ranges.length === 1 ? (ranges[0]?.text ?? '*') : ranges.map((range) => range.text).join(' & ')
}

/** The ranges of such a text; undefined when one of them is none. */
export function splitRanges(text: string): ParsedRange[] | undefined {
  try {
    return text.split(' & ').map(parseRange)
  } catch {
    return undefined
  }
}

/** How many ranges are remembered; never more than 4 096. */
export function rememberedRanges(): number {
  return remembered.size
}

function parseFresh(raw: string): ParsedRange {
  if (raw.length > limits.rangeLength)
    throw new Refusal('INVALID_RANGE', `A range is at most ${limits.rangeLength} characters; this one has ${raw.length}.`, {
      hint: 'ask for a shorter range, such as ^1.2',
    })
  const trimmed = raw.trim()
  if (trimmed === '') throw new Refusal('INVALID_RANGE', 'The range is empty.', { hint: 'leave it out, or ask for a range such as ^1.2' })
  const text = trimmed === 'latest' ? '*' : trimmed
  const alternatives = text.split('||').length
  if (alternatives > limits.rangeAlternatives)
    throw new Refusal('INVALID_RANGE', `A range has at most ${limits.rangeAlternatives} alternatives; this one has ${alternatives}.`)
  const pin = parseExact(text.replace(/^[v=\s]+/, ''))
  try {
    const range = new Range(text)
    return { text, pin, range, intervals: intervalsOf(range), unbounded: range.range === '' || range.range === '*' }
  } catch {
    throw new Refusal('INVALID_RANGE', `${JSON.stringify(text)} is not an npm range.`, {
      hint: 'ranges look like ^1.2, ~1.2.3, 1.x, >=1.2 <2 or 1.4.2',
    })
  }
}
