import { redactPayload, redactText } from '@repertoire/core'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { check, numRuns, patienceMs } from './check-property.ts'
import { card, policyWith, redacted, secret, writeLoosely, type Planted } from './redact-fixture.ts'

const rules = [
  { name: 'staff', pattern: 'EMP-\\d{6}', action: 'hash' },
  { name: 'word', pattern: '[a-m]+x', action: 'redact' },
  { name: 'gone', pattern: 'GONE\\w*', action: 'drop' },
] as const
const policy = policyWith(rules, ['favourite colour'])

// What stands around a secret: anything, behind a character that is part of no word.
const edge = fc.constantFrom('', ' ', ', ', '(', '"', "'", '\n', '\\', ' = ', '; ', '\u00e9', '\u{1F511}', '\u0000', '|')
const around = fc
  .tuple(fc.constantFrom('', 'see', 'key', 'A0', '99', 'log: x'), edge)
  .map(([text, gap]) => (text === '' ? text : text + (gap === '' ? ' ' : gap)))
const harmless = fc.oneof(
  fc.constantFrom('a', 'order', 'x y', '', 'max_tokens', 'cookie_policy', 'ünï'),
  fc.string({ maxLength: 8 }).map((text) => text.replace(/[\d@]/g, '')),
)
const leaf = fc.oneof(harmless, fc.integer({ min: -99999, max: 99999 }), fc.boolean(), fc.constant(null))
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'note', 'items', 'max_tokens'), tie('value'), { maxKeys: 4 }),
  ),
})).value

/** A JSON value with one secret planted somewhere: in a text, or in a name. */
const planted = fc
  .tuple(tree, secret, around, around, fc.array(fc.nat(9), { maxLength: 5 }), fc.boolean())
  .map(([value, hidden, before, after, way, asName]) => {
    const text = `${before}${hidden.text}${after.split('').reverse().join('')}`
    const put = (at: unknown, [step, ...rest]: readonly number[]): unknown => {
      if (Array.isArray(at) && step !== undefined) return [...at.slice(0, step), put(at[step], rest), ...at.slice(step)]
      if (typeof at === 'object' && at !== null && step !== undefined)
        return { ...at, [['a', 'b', 'note'][step % 3] ?? 'a']: put(at, rest) }
      return asName ? { [text]: at ?? null } : text
    }
    return { value: put(value, way), hidden }
  })
const seed = fc.infiniteStream(fc.nat(1000)).map((stream) => {
  const numbers = stream[Symbol.iterator]()
  return (options: number): number => Number(numbers.next().value) % options
})

// Names, values and marks out of which a text is put together that redaction finds hardest.
const fragment = fc.oneof(
  fc.constantFrom(
    'rep_agent_',
    'ghp_',
    'eyJ',
    '.',
    'sk-',
    'xoxb-',
    'AKIA',
    'password',
    'token',
    '=',
    ':',
    '"',
    '\\',
    '://',
    '@',
    '4111',
    '1111',
    '-',
    ' ',
    'Bearer ',
    'GONE',
    'EMP-123456',
  ),
  fc.constantFrom(
    '[redacted:card]',
    '[redacted:assigned]',
    '[redacted:jwt]',
    '[hash:0123456789abcdef]',
    '[redacted:staff]',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----',
  ),
  fc.string({ maxLength: 6 }),
  fc.stringMatching(/^[A-Za-z0-9]{10,20}$/),
  secret.map(({ text }) => text),
)
const nasty = fc.array(fragment, { maxLength: 8 }).map((parts) => parts.join(''))
const nastyJson = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    nasty,
    card.map(Number),
    leaf,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(nasty, fc.constantFrom('password', 'tokens', 'favouriteColour')), tie('value'), { maxKeys: 3 }),
  ),
})).value

describe('redaction', () => {
  it('leaves no planted secret, whatever its shape, place, nesting and escapes', { timeout: patienceMs }, () => {
    check([planted, seed], ({ value, hidden }, choose) => {
      const outcome = redacted(writeLoosely(value, choose))
      return !outcome.failed && outcome.count > 0 && !textsOf(JSON.parse(outcome.text)).some((text) => survives(text, hidden))
    })
  })
  it('leaves none in a text that is no JSON', { timeout: patienceMs }, () => {
    check([secret, around, around], (hidden, before, after) => {
      const text = `${before}${hidden.text}${after.split('').reverse().join('')}`
      return !survives(redactText(policy, text), hidden) && !survives(redacted(`{${text}`).text, hidden)
    })
  })
  it('leaves everything else as it was to the byte', { timeout: patienceMs }, () => {
    check([tree, secret, tree, seed], (before, hidden, after, choose) => {
      const [first, last] = [writeLoosely(before, choose), writeLoosely(after, choose)]
      const whole = Buffer.from(
        `[${first},9007199254740993 , "${'x'.repeat(choose(9))} ${JSON.stringify(hidden.text).slice(1, -1)}" ,${last}]`,
      )
      const outcome = redacted(whole.toString())
      const untouched = redacted(`[${first},9007199254740993 ,${last}]`)
      return (
        outcome.text.startsWith(`[${first},9007199254740993 , "`) &&
        outcome.text.endsWith(`" ,${last}]`) &&
        untouched.text === `[${first},9007199254740993 ,${last}]` &&
        untouched.count === 0
      )
    })
  })
  it('gives back the very bytes that hold nothing to redact, UTF-8 or not', { timeout: patienceMs }, () => {
    check([fc.uint8Array({ max: 200 })], (bytes) => {
      const outcome = redactPayload(policyWith(), { bytes })
      return outcome.count > 0 || Buffer.from(outcome.bytes ?? []).equals(Buffer.from(bytes))
    })
  })
  it('finds nothing in its own outcome', { timeout: patienceMs }, () => {
    check([nastyJson, seed], (value, choose) => {
      const once = redacted(writeLoosely(value, choose), { policy })
      const twice = redacted(once.text, { policy })
      return !once.failed && twice.text === once.text && twice.count === 0
    })
    check([nasty], (text) => redactText(policy, redactText(policy, text)) === redactText(policy, text))
  })
  it('makes JSON of JSON', { timeout: patienceMs }, () => {
    check([nastyJson, seed], (value, choose) => void JSON.parse(redacted(writeLoosely(value, choose), { policy }).text))
  })
  it('leaves no half of a secret at the cut of a long payload, nor where the part ends that is searched', { timeout: patienceMs }, () => {
    const maxBytes = 64 * 1024
    const place = fc.constantFrom({ kibibytes: 64, hidden: 8 }, { kibibytes: 120, hidden: 70_000 }, { kibibytes: 128, hidden: 70_000 })
    const filler = 'lorem ipsum '.repeat(20_000)
    const property = fc.property(secret, fc.integer({ min: -700, max: 700 }), place, (planted, offset, { kibibytes, hidden }) => {
      const before = `{"password":"${'p'.repeat(hidden)}","note":"`
      const text = `${before}${filler.slice(0, kibibytes * 1024 - before.length + offset)} ${JSON.stringify(planted.text).slice(1, -1)} ${filler}"}`
      const outcome = redacted(text, { maxBytes })
      return !outcome.failed && outcome.cut && (outcome.bytes?.byteLength ?? 0) <= maxBytes && !holdsPart(outcome.text, planted)
    })
    fc.assert(property, { numRuns: numRuns / 10 })
  })
})

function survives(text: string, { core }: Planted): boolean {
  return text.includes(core)
}

// What is shorter gives nobody a secret.
const tellingLength = 8

function holdsPart(text: string, { core }: Planted): boolean {
  const parts = Array.from({ length: core.length - tellingLength + 1 }, (_, at) => core.slice(at, at + tellingLength))
  return parts.some((part) => text.includes(part))
}

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsOf(item)])
}
