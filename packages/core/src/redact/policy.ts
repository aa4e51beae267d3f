import { RE2JS } from 're2js'
import { judgeName, wordsOf, type NameVerdict } from './key-names.ts'
import { shapes } from './shapes.ts'

/** What becomes of a secret: a mark in its place, a keyed hash that equal secrets share, or nothing, with the member it stood in. */
export type RedactAction = 'redact' | 'hash' | 'drop'

/** A rule of the operator: what a text is searched for, and what becomes of it. */
export type RedactRule = { readonly name: string; readonly pattern: string; readonly action: RedactAction }

/** What is redacted beside what the schemas of a version mark. */
export type RedactionPolicy = {
  readonly rules: readonly CompiledRule[]
  /** Whether a member's name stands for a secret, by what is built in or by the operator's names. */
  readonly judge: (name: string) => NameVerdict
  readonly hasOwnNames: boolean
  /** Finds what this policy has put in the place of secrets before. */
  readonly marks: RegExp
  readonly hash: (text: string) => string
}

/** A rule that is ready to search; a piece that its matches cannot be without spares most of the searching. */
export type CompiledRule = { readonly name: string; readonly action: RedactAction; readonly piece: string; readonly pattern: RE2JS }

/** The names of the layers that are no shapes. */
export const layerNames = { schema: 'schema', keyName: 'key-name' } as const

/** A rule that cannot be one: the sentence names it and says why. */
export class BadRedactRule extends Error {}

/** Compiles rules and names of an operator. `hash` answers with a keyed digest in hex, of at least 16 letters. */
export function compileRedaction(
  { rules, keys }: { readonly rules: readonly RedactRule[]; readonly keys: readonly string[] },
  hash: (text: string) => string,
): RedactionPolicy {
  const builtIn = new Set<string>([...shapes.map((shape) => shape.rule), ...Object.values(layerNames)])
  const known = new Set<string>()
  for (const { name } of rules) {
    if (builtIn.has(name)) throw new BadRedactRule(`the rule ${name} has the name of one that is built in`)
    if (known.has(name)) throw new BadRedactRule(`two rules have the name ${name}`)
    known.add(name)
  }
  const ownNames = new Set(keys.map((key) => wordsOf(key).join(' ')).filter((name) => name !== ''))
  return {
    rules: rules.map(compileRule),
    judge: rememberVerdicts((name) => judgeName(name, ownNames)),
    hasOwnNames: ownNames.size > 0,
    marks: new RegExp(String.raw`\[(?:redacted:(?:${[...builtIn, ...known].join('|')})|hash:[0-9a-f]{16})\]`, 'g'),
    hash,
  }
}

/** What stands in the place of a secret. */
export function markOf(
  policy: RedactionPolicy,
  { rule, action }: { readonly rule: string; readonly action: RedactAction },
  text: string,
): string {
  if (action === 'drop') return ''
  return action === 'hash' ? `[hash:${policy.hash(text).slice(0, 16)}]` : `[redacted:${rule}]`
}

const maxRemembered = 4096
const maxNameLength = 64

// The same few names come with every call; what callers can make up is not remembered without end.
function rememberVerdicts(judge: (name: string) => NameVerdict): (name: string) => NameVerdict {
  const known = new Map<string, NameVerdict>()
  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const verdict = judge(name)
    if (known.size >= maxRemembered) known.clear()
    if (name.length <= maxNameLength) known.set(name, verdict)
    return verdict
  }
}

function compileRule({ name, pattern, action }: RedactRule): CompiledRule {
  let compiled: RE2JS
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(pattern))
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown'
    throw new BadRedactRule(`the pattern of the rule ${name} is not one that runs in linear time (RE2): ${why.slice(0, 200)}`)
  }
  if (compiled.matcher('').find()) throw new BadRedactRule(`the pattern of the rule ${name} matches the empty text`)
  const piece = pattern.includes('|') ? undefined : /^[A-Za-z0-9_-]+(?![?*+{A-Za-z0-9_-])/.exec(pattern)?.[0]
  return { name, action, pattern: compiled, piece: piece ?? '' }
}
