import type { Span } from './edits.ts'

// Digits, alone or in groups; not the end of a longer number, of a word, or of what stands behind a decimal point.
const run = /(?<![0-9A-Za-z]|\d\.)[2-6]\d{3,}(?:[ -]\d{2,})*(?![0-9A-Za-z])/g
const beginning = /[2-6]\d{3}[ -]?\d{4}/

/** Whether a text may hold a card number. */
export function mayHoldCard(text: string): boolean {
  return beginning.test(text)
}

/** The card numbers in a text: 13 to 19 digits of a known kind whose check digit is right. */
export function findCards(text: string): Span[] {
  const found: Span[] = []
  for (const match of text.matchAll(run)) found.push(...cardsIn(match[0], match.index))
  return found
}

// Another number may stand beside a card's, so every row of whole groups is tried that has as many digits as a card.
function cardsIn(groups: string, offset: number): Span[] {
  const edges = [...groups.matchAll(/\d+/g)].map((group) => ({ start: group.index, end: group.index + group[0].length }))
  const found: Span[] = []
  for (const [first, { start }] of edges.entries()) {
    let digits = 0
    for (const { start: from, end } of edges.slice(first, first + mostGroups)) {
      digits += end - from
      if (digits > mostDigits) break
      if (digits >= fewestDigits && isCard(groups.slice(start, end))) found.push({ start: offset + start, end: offset + end })
    }
  }
  return found
}

const fewestDigits = 13
const mostDigits = 19
const mostGroups = 7
// Visa, Mastercard, American Express, Diners, Discover, JCB, UnionPay and Maestro, by how their numbers begin and how long they are.
const kinds = /^(?:4(?:\d{12}|\d{15}|\d{18})|5[0-8]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|35\d{14}|6\d{15}(?:\d{3})?)$/

function isCard(text: string): boolean {
  const digits = text.replace(/[ -]/g, '')
  if (!kinds.test(digits)) return false
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - 48
    const weighted = index % 2 === 0 ? digit : digit * 2
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return sum % 10 === 0
}
