import {
  checkCompatibility,
  compileSchema,
  declaredPaths,
  explainViolations,
  parseExact,
  validatorFor,
  type VersionSchemas,
} from '@repertoire/core'
import { describe, expect, it } from 'vitest'

describe('validation', () => {
  const accepts = (schema: object, value: unknown): boolean => compileSchema(JSON.stringify(schema)).accepts(value)
  it('coerces nothing, fills in nothing, and leaves the value alone', () => {
    const value = { n: '1' }
    expect(accepts({ type: 'object', properties: { n: { type: 'integer' }, m: { default: 1 } } }, value)).toBe(false)
    expect(value).toEqual({ n: '1' })
  })
  it('does not take an infinite number for an integer, nor inherited properties for own', () => {
    expect(accepts({ type: 'object', properties: { n: { type: 'integer' } } }, { n: Number.POSITIVE_INFINITY })).toBe(false)
    expect(accepts({ type: 'object', required: ['toString'] }, {})).toBe(false)
  })
  it('spends linear time on patterns that cost a backtracking engine seconds', () => {
    const started = performance.now()
    expect(accepts({ type: 'object', properties: { a: { pattern: '^(a|a)*$' } } }, { a: `${'a'.repeat(28)}!` })).toBe(false)
    expect(performance.now() - started).toBeLessThan(4000)
  })
  it('keeps several patterns of one schema apart', () => {
    const schema = {
      type: 'object',
      properties: { a: { pattern: '^a+$' }, b: { pattern: '^b+$' } },
      patternProperties: { '^x-': { pattern: '^c' } },
    }
    expect([
      accepts(schema, { a: 'aa', b: 'bb', 'x-1': 'c' }),
      accepts(schema, { a: 'bb' }),
      accepts(schema, { b: 'aa' }),
      accepts(schema, { 'x-1': 'a' }),
    ]).toEqual([true, false, false, false])
  })
  it('shares no $id between schemas', () => {
    compileSchema('{"$id":"https://team.example/secret","type":"object","properties":{"a":{"const":1}}}')
    expect(() => compileSchema('{"type":"object","properties":{"b":{"$ref":"https://team.example/secret"}}}')).toThrow(/resolve/)
  })
  it('knows formats, and keeps one validator a text', () => {
    expect(accepts({ type: 'object', properties: { d: { format: 'date' } } }, { d: '2026-02-30' })).toBe(false)
    expect(validatorFor('{"type":"object"}')).toBe(validatorFor('{"type":"object"}'))
  })
})

describe('what is said of a violation', () => {
  const explain = (schema: object, value: unknown): unknown[] =>
    explainViolations(compileSchema(JSON.stringify(schema)).problemsOf(value, 0))
  it('tells a missing and an unknown property as one rename', () => {
    expect(
      explain({ type: 'object', properties: { order_id: {} }, required: ['order_id'], additionalProperties: false }, { orderId: 1 }),
    ).toEqual([
      {
        path: '/orderId',
        rule: 'required',
        expected: 'order_id',
        got: 'orderId',
        did_you_mean: 'order_id',
        fix: 'rename orderId to order_id',
      },
    ])
  })
  it('tells one branch of a union, allowed values, types, and at most ten things', () => {
    expect(explain({ type: 'object', properties: { s: { enum: ['a', 'b'] } } }, { s: 'c' })).toEqual([
      { path: '/s', rule: 'enum', allowed: ['a', 'b'], got: '"c"' },
    ])
    expect(
      explain(
        { type: 'object', properties: { v: { oneOf: [{ type: 'object', required: ['x', 'y', 'z'] }, { type: 'string' }] } } },
        { v: {} },
      ),
    ).toHaveLength(1)
    expect(
      explain(
        { type: 'object', additionalProperties: { type: 'string' } },
        Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`k${n}`, n])),
      ),
    ).toHaveLength(10)
  })
  it('is found soon, however often a rule is broken', () => {
    const schema = { type: 'object', properties: { v: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'boolean' }] } } } }
    const started = performance.now()
    expect(explain(schema, { v: Array.from({ length: 4000 }, () => 1) })).toHaveLength(10)
    expect(performance.now() - started).toBeLessThan(4000)
    expect(compileSchema(JSON.stringify(schema)).problemsOf({ v: Array.from({ length: 400_000 }, () => 1) }, 800_000).length).toBeLessThan(
      10,
    )
  })
  it('suggests the property that was meant', () => {
    expect(explain({ type: 'object', properties: { amount: {} }, additionalProperties: false }, { amout: 1 })).toEqual([
      {
        path: '/amout',
        rule: 'additionalProperties',
        got: 'amout',
        allowed: ['amount'],
        fix: 'rename amout to amount',
        did_you_mean: 'amount',
      },
    ])
  })
})

describe('compatibility', () => {
  const version = (text: string, input: object, output: object | null = null): VersionSchemas => ({
    semver: parseExact(text) ?? ({} as never),
    inputSchema: JSON.stringify(input),
    outputSchema: output === null ? null : JSON.stringify(output),
  })
  const props = (...names: string[]): object => ({ type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) })
  const verdict = (next: VersionSchemas, ...published: VersionSchemas[]): string[] =>
    checkCompatibility(next, published).map((finding) => `${finding.message} → ${finding.fix ?? ''}`)

  it('lets a minor add, and a major do anything', () => {
    expect(verdict(version('1.1.0', props('a', 'b')), version('1.0.0', props('a')))).toEqual([])
    expect(verdict(version('2.0.0', props('z')), version('1.0.0', props('a')))).toEqual([])
  })
  it('refuses a minor that takes away, and says it looks like a rename', () => {
    expect(verdict(version('1.1.0', props('a'), props('total_amount')), version('1.0.0', props('a'), props('amount')))).toEqual([
      'the output of 1.0.0 declares amount, and 1.1.0 does not (it looks like a rename to total_amount) → publish it as a major version, or keep the property',
    ])
    expect(verdict(version('1.1.0', props('a'), null), version('1.0.0', props('a'), props('x')))[0]).toContain('declares x')
  })
  it('compares with successors too when a version is published late', () => {
    expect(verdict(version('1.1.0', props('a', 'b')), version('1.2.0', props('a')))[0]).toContain(
      'the input of 1.1.0 declares b, and 1.2.0 does not',
    )
  })
  it('refuses a patch that changes a schema, and lets descriptions and key order change', () => {
    expect(verdict(version('1.0.1', { type: 'object', properties: { a: { type: 'string' } } }), version('1.0.0', props('a')))[0]).toContain(
      'a patch changes no schema',
    )
    expect(
      verdict(version('1.0.1', { properties: { a: { description: 'new' } }, type: 'object', title: 'T' }), version('1.0.0', props('a'))),
    ).toEqual([])
    expect(
      verdict(
        version('1.0.1', { type: 'object', properties: { description: {} } }),
        version('1.0.0', { type: 'object', properties: {} }),
      )[0],
    ).toContain('a patch changes no schema')
  })
  it('takes minor for major below 1.0', () => {
    expect(verdict(version('0.2.0', props('b')), version('0.1.0', props('a')))).toEqual([])
    expect(verdict(version('0.1.1', props('b')), version('0.1.0', props('a')))[0]).toContain('publish it as a minor version')
    expect(verdict(version('0.1.1', props('a', 'b')), version('0.1.0', props('a')))).toEqual([])
  })
  it('sees declared paths through references, combinations and arrays', () => {
    const schema = {
      type: 'object',
      properties: { items: { type: 'array', items: { $ref: '#/$defs/item' } } },
      allOf: [{ properties: { extra: {} } }],
      $defs: { item: { properties: { price: {}, child: { $ref: '#/$defs/item' } } } },
    }
    expect([...declaredPaths(schema)].sort()).toEqual(['extra', 'items', 'items[].child', 'items[].price'])
  })
})
