import type { Span } from './edits.ts'

const name = String.raw`(?<name>password|passwd|passphrase|passcode|pwd|(?<![a-z])pass|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|credential|authorization|cookie|jwt)s?`
// What is quoted goes on to the same quote; `\"` is that of a JSON text inside another.
const quoted = String.raw`\\+["'](?<nested>[^"'\\]+)|"(?<double>(?:\\.|[^"\\])+)|'(?<single>(?:\\.|[^'\\])+)`
const bare = String.raw`(?<bare>(?:[^\s&;"'<>\\]|\\(?!["'nrt])){4,})`
const assigned = new RegExp(String.raw`${name}(?<close>\\*["'])?\s{0,3}(?<sign>=>|[:=]|%3[ad])\s{0,3}(?:${quoted}|${bare})`, 'gi')
const header = /(?:authorization|cookie)\s{0,3}[:=]\s{0,3}(?<header>[^\r\n"'\\<>]{4,})/gi

/** What a text sets to a name that stands for a secret, in the ways of query strings, settings, headers and JSON inside a text. */
export function findAssigned(text: string): Span[] {
  return [...text.matchAll(header), ...text.matchAll(assigned)].filter((match) => !isProse(match)).map(valueOf)
}

// The value is what a match ends with.
function valueOf(match: RegExpExecArray): Span {
  const { header: line, nested, double, single, bare: plain } = match.groups ?? {}
  const end = match.index + match[0].length
  return { start: end - (line ?? nested ?? double ?? single ?? plain ?? '').length, end }
}

// "Unexpected token: end of input" and `max_tokens=4096` set nothing: behind a colon a secret has a digit, and tokens are counted.
function isProse({ groups = {} }: RegExpExecArray): boolean {
  const { name: term = '', header: line, sign, close, bare: value } = groups
  if (line !== undefined) return !/[\d=]/.test(line)
  if (value === undefined) return false
  if (/^token/i.test(term) && /^\d{1,9}$/.test(value)) return true
  return sign === ':' && close === undefined && !(value.length >= 6 && /\d/.test(value))
}
