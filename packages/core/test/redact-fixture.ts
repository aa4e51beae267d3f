import { compileRedaction, redactPayload, writeKey, type RedactedPayload, type RedactionPolicy, type RedactRule } from '@repertoire/core'
import fc from 'fast-check'
import { createHmac } from 'node:crypto'

/** A secret as it is written, and the part of it that must be nowhere afterwards. */
export type Planted = { readonly text: string; readonly core: string; readonly rule: string }

const from = (letters: string, length: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { minLength: length, maxLength: length }).map((parts) => parts.join(''))
const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = '0123456789'
const word = `${capitals}${capitals.toLowerCase()}${digits}`
const plain = (rule: string, text: fc.Arbitrary<string>): fc.Arbitrary<Planted> =>
  text.map((secret) => ({ text: secret, core: secret, rule }))
const behind = (rule: string, before: string, core: fc.Arbitrary<string>, after = ''): fc.Arbitrary<Planted> =>
  core.map((secret) => ({ text: `${before}${secret}${after}`, core: secret, rule }))

function withCheckDigit(start: string): string {
  const sum = [...start].reverse().reduce((total, digit, index) => {
    const weighted = index % 2 === 0 ? Number(digit) * 2 : Number(digit)
    return total + (weighted > 9 ? weighted - 9 : weighted)
  }, 0)
  return `${start}${(10 - (sum % 10)) % 10}`
}

/** Card numbers of several kinds, in one piece or in groups. */
export const card = fc
  .oneof(
    from(digits, 14).map((rest) => withCheckDigit(`4${rest}`)),
    from(digits, 14).map((rest) => withCheckDigit(`5${Number(rest[0]) % 6}${rest.slice(1)}`)),
    from(digits, 12).map((rest) => withCheckDigit(`37${rest}`)),
  )
  .chain((number) =>
    fc.constantFrom('', ' ', '-').map((gap) => (number.length === 16 ? number.replace(/(.{4})(?=.)/g, `$1${gap}`) : number)),
  )

/** A secret of every shape. */
export const secret: fc.Arbitrary<Planted> = fc.oneof(
  plain(
    'repertoire-key',
    fc
      .tuple(fc.constantFrom('agent', 'pub', 'ops', 'aud', 'adm', 'cap'), fc.uint8Array({ minLength: 64, maxLength: 64, max: 247 }))
      .map(([kind, random]) => writeKey(kind, random)),
  ),
  plain(
    'jwt',
    fc.tuple(from(word, 20), from(word, 30), from(`${word}-_`, 43)).map(([a, b, c]) => `eyJ${a}.eyJ${b}.${c}`),
  ),
  plain(
    'aws-key',
    from(`${capitals}${digits}`, 15).map((rest) => `AKIA7${rest}`),
  ),
  plain(
    'github-token',
    fc.tuple(fc.constantFrom('ghp_', 'gho_', 'ghs_', 'github_pat_'), from(word, 35)).map(([kind, rest]) => `${kind}7${rest}`),
  ),
  plain(
    'sk-key',
    fc.tuple(fc.constantFrom('sk-', 'sk-proj-', 'sk-ant-api03-', 'sk_live_'), from(word, 40)).map(([kind, rest]) => `${kind}7${rest}`),
  ),
  plain(
    'slack-token',
    fc.tuple(fc.constantFrom('xoxb-', 'xoxa-', 'xoxp-'), from(digits, 11), from(word, 24)).map((parts) => parts.join('')),
  ),
  behind('private-key', '-----BEGIN RSA PRIVATE KEY-----\n', from(`${word}+/\n`, 300), '\n-----END RSA PRIVATE KEY-----'),
  behind(
    'authorization',
    'Bearer ',
    from(`${word}-._~+/`, 32).map((rest) => `7${rest}9`),
  ),
  behind(
    'authorization',
    'Basic ',
    from(word, 24).map((rest) => `${rest}==`),
  ),
  behind(
    'url-userinfo',
    'https://',
    fc.tuple(from(word, 6), from(`${word}!$%&*@`, 12)).map((parts) => parts.join(':')),
    '@db.example.com/x',
  ),
  plain('card', card),
)

/** A policy with the given rules, hashed with a key of the test. */
export function policyWith(rules: readonly RedactRule[] = [], keys: readonly string[] = []): RedactionPolicy {
  return compileRedaction({ rules, keys }, (text) => createHmac('sha256', 'of the test').update(text).digest('hex'))
}

/** A redacted payload with its bytes as text. */
export function redacted(
  text: string,
  how: { policy?: RedactionPolicy; schema?: object; maxBytes?: number } = {},
): RedactedPayload & { text: string } {
  const { policy = builtIn, schema, maxBytes } = how
  const outcome = redactPayload(policy, {
    bytes: Buffer.from(text),
    ...(schema === undefined ? {} : { schema: JSON.stringify(schema) }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
  return { ...outcome, text: Buffer.from(outcome.bytes ?? []).toString('utf8') }
}

const builtIn = policyWith()

/** A JSON text of a value, with escapes and white space as the choices of a seed have it: all of them say the same. */
export function writeLoosely(value: unknown, choose: (options: number) => number): string {
  const space = (): string => ['', '', ' ', '\n', ' \t'][choose(5)] ?? ''
  const string = (text: string): string => `"${[...text].map((char) => writeChar(char, choose)).join('')}"`
  const write = (item: unknown): string => {
    if (typeof item === 'string') return string(item)
    if (Array.isArray(item)) return `[${space()}${item.map((each) => `${space()}${write(each)}${space()}`).join(',')}]`
    if (typeof item === 'object' && item !== null)
      return `{${space()}${Object.entries(item)
        .map(([name, each]) => `${space()}${string(name)}${space()}:${space()}${write(each)}${space()}`)
        .join(',')}}`
    return JSON.stringify(item)
  }
  return `${space()}${write(value)}${space()}`
}

function writeChar(char: string, choose: (options: number) => number): string {
  const plainly = JSON.stringify(char).slice(1, -1)
  if (char === '/' && choose(3) === 0) return '\\/'
  if (char.length > 1 || choose(12) !== 0) return plainly
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}
