import { BadRedactRule, redactText } from '@repertoire/core'
import { describe, expect, it } from 'vitest'
import { policyWith, redacted } from './redact-fixture.ts'

const nameOf = (name: string, value: unknown = 'x7'): string => redacted(JSON.stringify({ [name]: value })).text
const isHidden = (name: string, value?: unknown): boolean => nameOf(name, value) === JSON.stringify({ [name]: '[redacted:key-name]' })

describe('names of members', () => {
  it.each(
    'password passwd pwd pass secret token api_key apikey access_key authorization cookie set-cookie private_key client_secret credential credentials cvv jwt passphrase passcode'.split(
      ' ',
    ),
  )('hide what stands under %s', (name) => {
    expect([isHidden(name), isHidden(name.toUpperCase()), isHidden(name.replaceAll('_', '-'))]).toEqual([true, true, true])
  })
  it.each(
    'dbPassword db_password DB_PASSWORD dbpassword x-api-key X-Api-Key apiKey APIKey clientSecret userCredentials secretAccessKey password_hash passwordConfirmation newPassword password2 refresh_token proxy-authorization tokens cookies sshKey'.split(
      ' ',
    ),
  )('are told as whole words: %s', (name) => expect(isHidden(name)).toBe(true))
  it.each(
    'token_count max_tokens maxTokens total_tokens cookie_policy password_policy passwordless token_type token_url secretary compass_word keyboard key monkey api_key_id next_page_token nextToken author authorized is_secret_santa tokenizer passport'.split(
      ' ',
    ),
  )('that only sound like it hide nothing: %s', (name) => {
    expect(nameOf(name, 'x7')).toBe(JSON.stringify({ [name]: 'x7' }))
  })
  it('hide whole objects and lists, and not what tells nothing', () => {
    expect([isHidden('credentials', { user: 'a', list: [{}] }), isHidden('secrets', ['a']), isHidden('token', 123)]).toEqual([
      true,
      true,
      true,
    ])
    expect([true, false, null, ''].map((value) => nameOf('secret', value))).toEqual(
      [true, false, null, ''].map((value) => JSON.stringify({ secret: value })),
    )
    expect(nameOf('tokens', 4096)).toBe('{"tokens":4096}')
  })
  it('of the operator are told in every spelling', () => {
    const policy = policyWith([], ['favourite_colour'])
    for (const name of ['favourite_colour', 'favouriteColour', 'FAVOURITE-COLOUR'])
      expect(redacted(JSON.stringify({ [name]: 'red' }), { policy }).text).toBe(JSON.stringify({ [name]: '[redacted:key-name]' }))
  })
})

describe('shapes', () => {
  it.each([
    ['Basic authentication is not a bearer certificate', 'prose about schemes'],
    ['Unexpected token: end of input', 'a colon behind a word'],
    ['task-management-of-the-desk-risk-assessment-group', 'a word that ends in sk-'],
    ['sk-learn-and-other-packages-of-that-kind', 'a name that begins like a key'],
    ['mail to jane.doe@example.com or see https://example.com/a?b=c@d', 'an @ that belongs to no address'],
    ['4111111111111112 and 1234 5678 9012 3456', 'numbers whose check digit or beginning is wrong'],
    ['45.12345678901234 0198aaaa-4111-1111-1111-111111111111', 'decimals and identifiers'],
    ['rep_agent_configuration_of_all_agents', 'a name that begins like a key of ours'],
    ['2026-11-30T20:13:38.000Z 1764533618000', 'times'],
  ])('leave alone %s (%s)', (text) => {
    expect([redacted(JSON.stringify(text)), redactText(policyWith(), text)]).toMatchObject([{ count: 0, rules: [] }, text])
  })
  it.each([
    ['https://jane:pa@ss@db.example.com/x', 'https://[redacted:url-userinfo]@db.example.com/x'],
    ['see 9999 4111 1111 1111 1111.', 'see 9999 [redacted:card].'],
    ['xghp_ABCDEFGHIJKLMNOP0123', 'x[redacted:github-token]'],
    ['POST /login?api_key=abcd1234&page=2', 'POST /login?api_key=[redacted:assigned]&page=2'],
    ['host=db password=hunter2 user=x', 'host=db password=[redacted:assigned] user=x'],
    ['Cookie: session=abc; theme=dark\nHost: x', 'Cookie: [redacted:assigned]\nHost: x'],
    ['got {"token":"a b","n":1}', 'got {"token":"[redacted:assigned]","n":1}'],
    [String.raw`got {\"token\":\"a b\"}`, String.raw`got {\"token\":\"[redacted:assigned]\"}`],
    ['-----BEGIN PRIVATE KEY-----\nMIIE and no end', '[redacted:private-key]'],
    ['password=hunter[redacted:card]2abc', 'password=[redacted:assigned][redacted:card][redacted:assigned]'],
  ])('in a longer text: %s', (text, expected) => expect(redactText(policyWith(), text)).toBe(expected))
  it('are found in numbers, which become texts, and in names', () => {
    expect(redacted('{"n": 4111111111111111, "ghp_ABCDEFGHIJKLMNOP0123":1}')).toMatchObject({
      text: '{"n": "[redacted:card]", "[redacted:github-token]":1}',
      rules: ['card', 'github-token'],
      count: 2,
    })
  })
})

describe('schemas', () => {
  const marked = { 'x-sensitive': 'redact' }
  it.each([
    ['writeOnly', { properties: { a: { writeOnly: true } } }],
    ['format password', { properties: { a: { format: 'password' } } }],
    ['a word nobody knows', { properties: { a: { 'x-sensitive': 'mask' } } }],
    ['patternProperties', { patternProperties: { '^a$': marked } }],
    ['additionalProperties', { properties: { b: {} }, additionalProperties: marked }],
    ['allOf', { allOf: [{ properties: { a: marked } }] }],
    ['anyOf', { anyOf: [{}, { properties: { a: marked } }] }],
    ['oneOf', { oneOf: [{ required: ['b'] }, { properties: { a: marked } }] }],
    ['then', { if: { required: ['nothing'] }, then: { properties: { a: marked } } }],
    ['else', { if: {}, else: { properties: { a: marked } } }],
    ['dependentSchemas', { dependentSchemas: { b: { properties: { a: marked } } } }],
    ['$ref', { properties: { a: { $ref: '#/$defs/hidden' } }, $defs: { hidden: marked } }],
    ['an anchor', { properties: { a: { $ref: '#hidden' } }, $defs: { hidden: { $anchor: 'hidden', ...marked } } }],
  ])('hide by %s', (_, schema) => {
    expect(redacted('{"a":"x7", "b" : 1.50}', { schema })).toMatchObject({
      text: '{"a":"[redacted:schema]", "b" : 1.50}',
      rules: ['schema'],
    })
  })
  it('hide items of lists, each by its place', () => {
    const schema = { properties: { l: { prefixItems: [{}, marked], items: { properties: { a: marked } } } } }
    expect(redacted('{"l":["x","y",{"a":1,"b":2},{"a":[1]}]}', { schema }).text).toBe(
      '{"l":["x","[redacted:schema]",{"a":"[redacted:schema]","b":2},{"a":"[redacted:schema]"}]}',
    )
  })
  it('that refer to themselves hide at every depth, and end', () => {
    const schema = { $ref: '#/$defs/node', $defs: { node: { properties: { pin: marked, child: { $ref: '#/$defs/node' } } } } }
    const nest = (pin: string): string => Array.from({ length: 60 }).reduce<string>((inner) => `{"pin":${pin},"child":${inner}}`, '0')
    expect(redacted(nest('1234'), { schema }).text).toBe(nest('"[redacted:schema]"'))
  })
  it.each([
    ['{"a":1,"b":2,"c":3}', ['a'], '{"b":2,"c":3}'],
    ['{"a":1,"b":2,"c":3}', ['c'], '{"a":1,"b":2}'],
    ['{ "a":1 , "b":2 , "c":3 }', ['b', 'c'], '{ "a":1 }'],
    ['{"a":1,"b":2,"c":3}', ['a', 'b'], '{"c":3}'],
    ['{"a":{"x":[1,{}]},"b":2}', ['a', 'b'], '{}'],
  ])('drop members of %s: %j', (text, names, expected) => {
    const schema = { properties: Object.fromEntries(names.map((name) => [name, { 'x-sensitive': 'drop' }])) }
    expect(redacted(text, { schema })).toMatchObject({ text: expected, count: names.length })
  })
  it('drop items, and all of a payload that is a secret itself', () => {
    const drop = { 'x-sensitive': 'drop' }
    expect(redacted('[1,2,3]', { schema: { prefixItems: [{}, drop] } }).text).toBe('[1,3]')
    expect(redacted('[1]', { schema: { items: drop } }).text).toBe('[]')
    expect(redacted('{"a":1}', { schema: drop }).text).toBe('null')
  })
  it('hash so that equal values stay equal, however they are written', () => {
    const schema = { additionalProperties: { 'x-sensitive': 'hash' } }
    const { a, b, c } = JSON.parse(redacted(String.raw`{"a":"jane","b":"j\u0061ne","c":"john"}`, { schema }).text) as Record<string, string>
    expect([a, b === a, c === a]).toEqual([expect.stringMatching(/^\[hash:[0-9a-f]{16}\]$/), true, false])
  })
  it('lead to nothing kept when the payload is none of their kind', () => {
    expect(redacted('x=1', { schema: { properties: { a: marked } } })).toMatchObject({ bytes: null, failed: true })
  })
})

describe('rules of the operator', () => {
  const policy = policyWith([
    { name: 'staff', pattern: 'EMP-\\d{6}', action: 'redact' },
    { name: 'patient', pattern: '(?i)patient \\w+', action: 'hash' },
    { name: 'site', pattern: 'site-[xy]', action: 'drop' },
  ])
  it('find what they describe, and do with it what they say', () => {
    expect(redacted('{"a":"of EMP-123456","b":"Patient Jane","c":"at site-x","d":[1,"site-y"],"site-x":1}', { policy })).toMatchObject({
      text: expect.stringMatching(/^\{"a":"of \[redacted:staff\]","b":"\[hash:[0-9a-f]{16}\]","d":\[1\]\}$/),
      rules: ['patient', 'site', 'staff'],
      count: 5,
    })
    expect(redactText(policy, 'at site-x by EMP-123456')).toBe('at  by [redacted:staff]')
  })
  it.each([
    [[{ name: 'look', pattern: '(?=x)', action: 'redact' }], [], /pattern of the rule look .* linear time/],
    [[{ name: 'nothing', pattern: 'x*', action: 'redact' }], [], /matches the empty text/],
    [[{ name: 'jwt', pattern: 'x', action: 'redact' }], [], /name of one that is built in/],
    [
      [
        { name: 'a', pattern: 'x', action: 'redact' },
        { name: 'a', pattern: 'y', action: 'drop' },
      ],
      [],
      /two rules have the name a/,
    ],
  ] as const)('are refused in one sentence: %j', (rules, keys, sentence) => {
    expect(() => policyWith(rules, keys)).toThrow(sentence)
    expect(() => policyWith(rules, keys)).toThrow(BadRedactRule)
  })
})

describe('a long payload', () => {
  const text = JSON.stringify({ password: 'hunter2', notes: 'ä'.repeat(100_000) })
  it('is kept up to the limit, as it begins, in whole characters', () => {
    const outcome = redacted(text, { maxBytes: 65_536 })
    expect(outcome).toMatchObject({ rules: ['key-name'], count: 1, failed: false, cut: true })
    expect([outcome.bytes?.byteLength, text.replace('hunter2', '[redacted:key-name]').startsWith(outcome.text)]).toEqual([65_535, true])
  })
  it('that fits when it is redacted is not cut', () => {
    expect(redacted(JSON.stringify({ password: 'p'.repeat(70_000) }), { maxBytes: 65_536 })).toMatchObject({
      text: '{"password":"[redacted:key-name]"}',
      cut: false,
    })
  })
})

describe('a redaction that fails', () => {
  const broken = policyWith([{ name: 'broken', pattern: 'x7', action: 'hash' }])
  const failing = { ...broken, hash: () => fail() }
  it('keeps nothing of the payload, and nothing of the text', () => {
    expect(redacted('{"a":"x7"}', { policy: failing })).toMatchObject({ bytes: null, failed: true })
    expect(redactText(failing, 'of x7')).toBe('[redacted:failed]')
  })
  it('is what a payload gets that holds secrets beyond all measure', () => {
    const cards = (count: number): string => JSON.stringify(Array.from({ length: count }, () => 4111111111111111))
    expect([redacted(cards(2000)).count, redacted(cards(2001)).failed, redacted(JSON.stringify(cards(2001))).failed]).toEqual([
      2000,
      true,
      true,
    ])
  })
  it('is what a payload gets that is nested too deep to be searched', () => {
    expect(redacted(`${'['.repeat(2000)}"password"${']'.repeat(2000)}`)).toMatchObject({ bytes: null, failed: true })
  })
})

function fail(): never {
  throw new Error('no digest')
}
