import { canFind, cleanText, note, type Cleaned, type Search } from './clean-text.ts'
import { addEdit, applyEdits, type Edit } from './edits.ts'
import { EndOfPart, isAtEnd, NotJson, peek, take, takeScalar, takeString, takeWhole, type JsonReader } from './json-text.ts'
import type { NameVerdict } from './key-names.ts'
import { layerNames, markOf, type RedactAction } from './policy.ts'
import type { Marks } from './schema-marks.ts'

/** What the cleaning of a JSON text works with; `isPart` says that the text is the beginning of a longer one. */
export type CleanJson = { readonly text: string; readonly isPart: boolean; readonly marks: Marks | undefined; readonly search: Search }

type Work = { readonly reader: JsonReader; readonly edits: Edit[]; readonly search: Search }
type Place = { readonly marks: Marks | undefined; readonly verdict: NameVerdict; readonly depth: number }

// No payload is taken that is nested deeper than 200.
const maxDepth = 500

/** A JSON text without its secrets, everything else as it was to the letter; undefined when it is no JSON. */
export function cleanJson({ text, isPart, marks, search }: CleanJson): string | undefined {
  const work: Work = { reader: { text, isPart, at: 0 }, edits: [], search }
  if (marks === undefined && !search.mayHoldNames && !canFind(search)) return text
  try {
    if (cleanValue(work, { marks, verdict: 'open', depth: 0 })) addEdit(work.edits, { start: 0, end: work.reader.at, text: 'null' })
    if (!isAtEnd(work.reader)) return undefined
  } catch (error) {
    if (error instanceof NotJson) return undefined
    if (!(error instanceof EndOfPart)) throw error
  }
  return applyEdits(text, work.edits)
}

/** Cleans the value that stands next; whether it is to be dropped from what holds it. */
function cleanValue(work: Work, place: Place): boolean {
  const { reader } = work
  const char = peek(reader)
  const { at: start } = reader
  const action = place.marks?.action
  if (action !== undefined) return replaceValue(work, layerNames.schema, action)
  if (isToldBy(place.verdict, reader)) return replaceValue(work, layerNames.keyName, 'redact')
  if (char === '"') return cleanToken(work, start, takeString(reader)).drops
  if (char === '{') return cleanElements(work, '{}', () => cleanMember(work, place))
  if (char === '[') return cleanElements(work, '[]', (index) => cleanValue(work, inside(place, place.marks?.item(index), 'open')))
  const token = takeScalar(reader)
  return /\d/.test(token) && cleanToken(work, start, token).drops
}

// true, false, null and the empty text are no secrets, whatever they stand under.
function isToldBy(verdict: NameVerdict, { text, at }: JsonReader): boolean {
  if (verdict === 'open' || text.startsWith('""', at)) return false
  return /["{[]/.test(text.charAt(at)) || (verdict === 'secret' && /[-\d]/.test(text.charAt(at)))
}

function cleanMember(work: Work, place: Place): boolean {
  const { reader } = work
  const { at: start } = reader
  if (peek(reader) !== '"') throw new NotJson()
  const name = takeString(reader)
  const cleaned = cleanToken(work, start, name)
  take(reader, ':')
  const isDropped = cleanValue(work, inside(place, place.marks?.member(name), judge(work, name, cleaned.text)))
  return isDropped || cleaned.drops
}

// What a mark is called says nothing of the value beside it; what is left of a name is judged too, as it will be read.
function judge({ search: { policy, mayHoldNames } }: Work, name: string, cleaned: string): NameVerdict {
  if (!mayHoldNames) return 'open'
  const bare = (text: string): string => (text.includes('[') ? text.replace(policy.marks, '') : text)
  const verdict = policy.judge(bare(name))
  return verdict === 'open' && cleaned !== name ? policy.judge(bare(cleaned)) : verdict
}

function inside({ depth }: Place, marks: Marks | undefined, verdict: NameVerdict): Place {
  if (depth >= maxDepth) throw new Error(`a payload is nested deeper than ${maxDepth}`)
  return { marks, verdict, depth: depth + 1 }
}

/** Cleans what stands between two brackets; what is dropped goes with one of the commas beside it. */
function cleanElements({ reader, edits }: Work, brackets: string, cleanElement: (index: number) => boolean): false {
  reader.at += 1
  let keptEnd = reader.at
  let next = peek(reader) === brackets[1] ? ((reader.at += 1), brackets[1]) : ','
  for (let index = 0; next === ','; index += 1) {
    peek(reader)
    const { at: start } = reader
    const isDropped = cleanElement(index)
    const { at: end } = reader
    if (isDropped) addEdit(edits, { start, end, text: '' })
    else keptEnd = end
    next = peek(reader)
    if (next !== ',' && next !== brackets[1]) throw new NotJson()
    reader.at += 1
    if (!isDropped) continue
    if (next === ',') peek(reader)
    addEdit(edits, next === ',' ? { start, end: reader.at, text: '' } : { start: keptEnd, end, text: '' })
  }
  return false
}

/** Puts a mark in the place of the value that stands next, or says that it is to be dropped. */
function replaceValue({ reader, edits, search }: Work, rule: string, action: RedactAction): boolean {
  const { at: start, text, isPart } = reader
  const value = takeWhole(reader)
  if (value.startsWith('[') && value.replace(search.policy.marks, '') === '') return false
  note(search.tally, rule)
  if (action === 'drop') return true
  // The digest of a part would be that of something else.
  const isCut = isPart && reader.at >= text.length
  addEdit(edits, { start, end: reader.at, text: JSON.stringify(markOf(search.policy, { rule, action: isCut ? 'redact' : action }, value)) })
  return false
}

// The token has just been taken; a number of which something is redacted becomes a string.
function cleanToken({ reader, edits, search }: Work, start: number, value: string): Cleaned {
  const cleaned = cleanText(search, value)
  if (cleaned.text !== value) addEdit(edits, { start, end: reader.at, text: JSON.stringify(cleaned.text) })
  return cleaned
}
