import { canonicalJson, scanJson } from '@repertoire/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe('the scan of a JSON text', () => {
  it.each([
    ['{"a":{"b":[1,2,{"c":1,"c":2}]}}', 'duplicate_key', '/a/b/2/c'],
    [String.raw`{"a":1,"\u0061":2}`, 'duplicate_key', '/a'],
    ['{"n":[0,9007199254740992]}', 'unsafe_integer', '/n/1'],
    ['{"n":-9007199254740993}', 'unsafe_integer', '/n'],
    ['{"n":1e999}', 'number_overflow', '/n'],
    [String.raw`{"t":"a\u0000"}`, 'nul_character', '/t'],
    [String.raw`{"t":"\udfff"}`, 'lone_surrogate', '/t'],
    [String.raw`{"\ud800":1}`, 'lone_surrogate', '/\ud800'],
    ['{"a":{"__proto__":1}}', 'reserved_key', '/a/__proto__'],
    ['[[[[1]]]]', 'depth', '/0/0/0'],
  ])('%s', (text, rule, path) => {
    expect(scanJson(text, 3 + (rule === 'depth' ? 0 : 20))).toMatchObject({ rule, path })
  })
  it('lets through whatever JSON.parse keeps', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        const text = JSON.stringify(value)
        const found = scanJson(text, 64)
        const hasOddity =
          text.includes('"__proto__"') || /\\u0000|\\ud[89a-f]/i.test(text) || /\d{16,}/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ''))
        return found === undefined || hasOddity
      }),
      { numRuns: 2000 },
    )
  })
  it('takes the largest safe integer, and text that looks like trouble inside strings', () => {
    expect([
      scanJson('[9007199254740991,-9007199254740991,1.5e10]', 64),
      scanJson(String.raw`{"t":"{\"a\":1,\"a\":99999999999999999999}"}`, 64),
      scanJson('"\\ud83e\\udd16"', 64),
    ]).toEqual([undefined, undefined, undefined])
  })
  it('writes one text for equal values', () => {
    expect(canonicalJson({ b: [1, { d: undefined, c: 'x' }], a: null })).toBe('{"a":null,"b":[1,{"c":"x"}]}')
  })
})
