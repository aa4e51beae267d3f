import { findAssigned } from './assigned-values.ts'
import { findCards, mayHoldCard } from './card-numbers.ts'
import type { Span } from './edits.ts'
import { mayHoldName } from './key-names.ts'

/** A kind of secret that is known by how it looks: whether it is worth looking, and where it stands. */
export type Shape = {
  readonly rule: string
  readonly mayBeIn: (text: string) => boolean
  readonly find: (text: string) => readonly Span[]
}

type Pattern = {
  readonly rule: string
  /** What it cannot be without, one of them. */
  readonly pieces: readonly string[]
  /** Where it stands, behind what the group `kept` takes. */
  readonly pattern: RegExp
  readonly isSecret?: (text: string) => boolean
}

// The expressions are linear. They take less than a whole secret, so that one of which a cut left the beginning is told too.
const patterns: readonly Pattern[] = [
  {
    rule: 'repertoire-key',
    pieces: ['p_'],
    pattern: /rep_(?:agent|pub|ops|aud|adm|cap)_[0-9A-Za-z]{12,}/g,
    isSecret: hasDigitOrCapital,
  },
  { rule: 'jwt', pieces: ['yJ'], pattern: /(?<![\w-])(?=[\w-]+\.[\w-]{8})(?<kept>[\w-]*?)eyJ[\w-]{8,}(?:\.[\w-]*){1,4}/g },
  { rule: 'aws-key', pieces: ['AKIA', 'ASIA'], pattern: /(?:AKIA|ASIA)[0-9A-Z]{12,}/g, isSecret: hasDigit },
  {
    rule: 'github-token',
    pieces: ['gh', '_pat_'],
    pattern: /(?:gh[pousr]|github_pat)_[0-9A-Za-z_]{12,}/g,
    isSecret: hasDigitOrCapital,
  },
  {
    rule: 'sk-key',
    pieces: ['k-', 'k_'],
    pattern: /(?<![0-9A-Za-z])(?:sk-|[sr]k_(?:live|test)_)[\w-]{16,}/g,
    isSecret: hasDigitOrCapital,
  },
  { rule: 'slack-token', pieces: ['xox'], pattern: /xox[abeoprs]-[0-9A-Za-z-]{8,}/g },
  { rule: 'google-key', pieces: ['AIza'], pattern: /AIza[\w-]{20,}/g },
  {
    rule: 'private-key',
    pieces: ['PRIVATE KEY'],
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  {
    rule: 'authorization',
    pieces: ['Bearer', 'bearer', 'BEARER', 'Basic', 'basic', 'BASIC'],
    pattern: /(?<![0-9A-Za-z])(?<kept>(?:bearer|basic)(?:\s|%20|\+){1,4})[\w.~+/=-]{6,}/gi,
    isSecret: isNoWord,
  },
  {
    rule: 'url-userinfo',
    pieces: ['@'],
    pattern: /(?<kept>:\\*\/\\*\/)[^\s/?#"'<>]+(?=@)/g,
    isSecret: (text) => text.includes(':') || text.length >= 16,
  },
]

/** The shape that needs a name to be one: what a text sets to a name of a secret. */
export const assignedRule = 'assigned'

/** The secrets that are known by sight. Each has pieces it cannot be without, and those are looked for first. */
export const shapes: readonly Shape[] = [
  ...patterns.map(({ rule, pieces, pattern, isSecret = () => true }): Shape => ({
    rule,
    mayBeIn: (text) => pieces.some((piece) => text.includes(piece)),
    find: (text) =>
      [...text.matchAll(pattern)].flatMap((match) => {
        const kept = match.groups?.['kept']?.length ?? 0
        return isSecret(match[0].slice(kept)) ? [{ start: match.index + kept, end: match.index + match[0].length }] : []
      }),
  })),
  { rule: 'card', mayBeIn: mayHoldCard, find: findCards },
  { rule: assignedRule, mayBeIn: mayHoldName, find: findAssigned },
]

function hasDigit(text: string): boolean {
  return /\d/.test(text)
}

function hasDigitOrCapital(text: string): boolean {
  return /[0-9A-Z]/.test(text.replace(/^[^_-]+/, ''))
}

// "Basic authentication" is prose: what follows the scheme has to look like no word.
function isNoWord(text: string): boolean {
  return text.length >= 20 || /\d|[a-z][A-Z]|=/.test(text)
}
