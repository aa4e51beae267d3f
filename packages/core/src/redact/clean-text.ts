import { markOf, type RedactAction, type RedactionPolicy } from './policy.ts'
import type { Span } from './edits.ts'
import { assignedRule, shapes, type Shape } from './shapes.ts'

/** What was redacted so far, of one payload or row. */
export type Tally = { readonly rules: Set<string>; count: number }

/** A text after its cleaning; `drops` says that a rule wants the member gone in which it stands. */
export type Cleaned = { readonly text: string; readonly drops: boolean }

/** What a text is searched with; `mayHoldNames` says whether a name in it may stand for a secret. */
export type Search = {
  readonly policy: RedactionPolicy
  readonly shapes: readonly Shape[]
  readonly mayHoldNames: boolean
  readonly tally: Tally
}

type Spot = Span & { readonly rule: string; readonly action: RedactAction }

// Nobody sends as many secrets; the time it would take to replace them is taken from all other calls.
const mostSecrets = 2000
// As short as `://a:b@`, and nothing is one that is shorter.
const shortestSecret = 7
// A replacement may bare a secret that only a neighbour had hidden; each pass leaves less to find.
const maxPasses = 16

/** A search of a text, or of the parts of one, with every shape that may be in it. */
export function searchFor(policy: RedactionPolicy, text: string, tally: Tally): Search {
  // These escapes of JSON can hide letters, and the slashes of an address.
  if (text.includes('\\u') || text.includes('\\/')) return { policy, tally, shapes, mayHoldNames: true }
  const found = shapes.filter((shape) => shape.mayBeIn(text))
  return { policy, tally, shapes: found, mayHoldNames: policy.hasOwnNames || found.some(({ rule }) => rule === assignedRule) }
}

/** Notes that a rule took something out; beyond all measure it gives up. */
export function note(tally: Tally, rule: string): void {
  tally.rules.add(rule)
  tally.count += 1
  if (tally.count > mostSecrets) throw new Error(`a payload holds more than ${mostSecrets} secrets`)
}

/** Whether a search can find anything at all. */
export function canFind({ policy, shapes: wanted }: Search): boolean {
  return wanted.length > 0 || policy.rules.length > 0
}

/** A text without its secrets, by shape and by the operator's rules; searching the outcome again finds nothing more. */
export function cleanText(search: Search, text: string): Cleaned {
  let current = text
  let drops = false
  if (!canFind(search) || (text.length < shortestSecret && search.policy.rules.length === 0)) return { text, drops }
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const spots = merge(findSpots(search, current))
    if (spots.length === 0) return { text: current, drops }
    drops ||= spots.some(({ action }) => action === 'drop')
    current = replace(search, current, spots)
  }
  throw new Error('the redaction of a text comes to no end')
}

function findSpots({ policy, shapes: wanted }: Search, text: string): Spot[] {
  const spots: Spot[] = []
  for (const { rule, mayBeIn, find } of wanted)
    if (mayBeIn(text)) for (const found of find(text)) spots.push({ ...found, rule, action: 'redact' })
  for (const { name, action, piece, pattern } of policy.rules) {
    if (!text.includes(piece)) continue
    const matcher = pattern.matcher(text)
    while (matcher.find()) spots.push({ start: matcher.start(), end: matcher.end(), rule: name, action })
  }
  if (spots.length === 0) return spots
  if (spots.length > mostSecrets) throw new Error(`a text holds more than ${mostSecrets} secrets`)
  spots.sort((a, b) => a.start - b.start || b.end - a.end)
  return withoutMarks(spots, marksIn(policy, text))
}

function marksIn({ marks }: RedactionPolicy, text: string): Span[] {
  return [...text.matchAll(marks)].map((mark) => ({ start: mark.index, end: mark.index + mark[0].length }))
}

// What stands there of an earlier redaction is no secret, and what stands around it still is. Both lists are in order.
function withoutMarks(spots: readonly Spot[], marks: readonly Span[]): Spot[] {
  const free: Spot[] = []
  let first = 0
  for (const spot of spots) {
    let { start } = spot
    while ((marks[first]?.end ?? Number.POSITIVE_INFINITY) <= start) first += 1
    for (let next = first; (marks[next]?.start ?? Number.POSITIVE_INFINITY) < spot.end; next += 1) {
      const mark = marks[next] ?? spot
      if (mark.start > start) free.push({ ...spot, start, end: mark.start })
      start = mark.end
    }
    if (start < spot.end) free.push({ ...spot, start })
  }
  return free
}

const strength = { hash: 0, redact: 1, drop: 2 } as const

// Spots that overlap become one, with what the strictest of them says.
function merge(spots: readonly Spot[]): Spot[] {
  const merged: Spot[] = []
  for (const spot of spots.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1)
    if (last === undefined || spot.start >= last.end) merged.push(spot)
    else {
      const { rule, action } = strength[spot.action] > strength[last.action] ? spot : last
      merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, spot.end), rule, action }
    }
  }
  return merged
}

function replace({ policy, tally }: Search, text: string, spots: readonly Spot[]): string {
  let out = ''
  let at = 0
  for (const spot of spots) {
    out += text.slice(at, spot.start) + markOf(policy, spot, text.slice(spot.start, spot.end))
    at = spot.end
    note(tally, spot.rule)
  }
  return out + text.slice(at)
}
