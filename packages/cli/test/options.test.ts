import { describe, expect, it } from 'vitest'
import { apiPath } from '../src/api-path.ts'
import { filtersQuery, windowQuery } from '../src/call-filters.ts'
import { readHeader } from '../src/commands/connections.ts'
import { collect, moment, percent, span, step, waiting, waitMsOf, wholeNumber } from '../src/read-option.ts'
import { readParams } from '../src/read-params.ts'
import { readRequires, readSkillReference } from '../src/skill-reference.ts'

describe('an option', () => {
  it('is a whole number within its bounds', () => {
    expect(wholeNumber(1, 9)('7')).toBe(7)
    for (const text of ['0', '10', '-1', '1.5', '1e3', '', ' 1', '0x1']) expect(() => wholeNumber(1, 9)(text)).toThrow('a whole number')
  })
  it('is a span of seconds, minutes, hours or days', () => {
    expect(['90s', '15m', '1h', '7d'].map(span)).toEqual([90_000, 900_000, 3_600_000, 604_800_000])
    for (const text of ['1w', 'h', '1', '-1h', '1 h']) expect(() => span(text)).toThrow('a span')
  })
  it('is a moment with its zone, or a date', () => {
    expect(['2026-03-01', '2026-03-01T12:00Z', '2026-03-01T12:00:00.5+02:00'].map(moment)).toEqual([
      '2026-03-01T00:00:00.000Z',
      '2026-03-01T12:00:00.000Z',
      '2026-03-01T10:00:00.500Z',
    ])
    for (const text of ['yesterday', '2026-13-01', '2026-03-01T12:00', '1']) expect(() => moment(text)).toThrow('a time')
  })
  it('is a percentage with at most two decimals', () => {
    expect(['0', '10', '0.25', '99.99', '100', '25%'].map(percent)).toEqual([0, 10, 0.25, 99.99, 100, 25])
    for (const text of ['100.5', '10001', '100.01', '-1', '0.125', '1e1', '', '%', ' 1', '.5', 'ten'])
      expect(() => percent(text)).toThrow('a percentage from 0 to 100')
  })
  it('is a step of a ramp, which only goes up', () => {
    expect(step('100', step('25:4h', step('5:30m')))).toEqual([
      { percent: 5, dwell: '30m' },
      { percent: 25, dwell: '4h' },
      { percent: 100, dwell: '0s' },
    ])
    expect(() => step('25:1h', step('25:1h'))).toThrow('more than the one before')
    expect(() => step('101:1h')).toThrow('a percentage')
    expect(() => step('25:1w')).toThrow('a span')
    for (const text of ['', ':1h', '25:1h:2h']) expect(() => step(text)).toThrow('25:1h')
  })
  it('is a wait that the registry takes', () => {
    expect(['500ms', '3s', '30s', '0s'].map((text) => waitMsOf(waiting(text)))).toEqual([500, 3000, 30_000, 0])
    for (const text of ['31s', '30001ms', '1m', '3', 's', '-1s', '1.5s']) expect(() => waiting(text)).toThrow('at most 30s')
  })
  it('may be given several times', () => {
    expect(collect('b', collect('a'))).toEqual(['a', 'b'])
  })
  it('names where a credential lies and never takes the credential', () => {
    expect(readHeader('X-Key=file:/run/key', readHeader('Authorization=env:TOKEN'))).toEqual({
      Authorization: { env: 'TOKEN' },
      'X-Key': { file: '/run/key' },
    })
    for (const text of ['Authorization: Bearer x', 'Authorization=secret', '=env:A', 'A=env:'])
      expect(() => readHeader(text)).toThrow('never given')
  })
})

describe('the query of the call log', () => {
  it('lets a span end now and takes the filters as they were given', () => {
    expect(windowQuery({ since: 3_600_000 }, Date.parse('2026-03-01T12:00:00Z'))).toEqual({ from: '2026-03-01T11:00:00.000Z' })
    expect(windowQuery({ from: 'a', to: 'b' }, 0)).toEqual({ from: 'a', to: 'b' })
    expect(filtersQuery({ skill: 'a', skillVersion: '1.0.0', dryRuns: 'none', text: 'order' })).toMatchObject({
      skill: 'a',
      version: '1.0.0',
      dry_run: 'false',
      q: 'order',
    })
  })
})

describe('a path of the API', () => {
  it('keeps a name one segment', () => {
    expect(apiPath`/v1/agents/${'a/b?c'}/keys/${'ü'}`).toBe('/v1/agents/a%2Fb%3Fc/keys/%C3%BC')
  })
  it.each(['', '.', '..'])('refuses %j, which would climb to another route', (name) => {
    expect(() => apiPath`/v1/agents/${name}`).toThrow('is not a name')
  })
})

describe('a skill on the command line', () => {
  it('is a name, or a name and a range', () => {
    expect(readSkillReference('query-order')).toEqual({ name: 'query-order', range: undefined })
    expect(readSkillReference('query-order@>=1.1 <2')).toEqual({ name: 'query-order', range: '>=1.1 <2' })
    expect(readRequires(['a', 'b@^1.2'])).toEqual({ a: '*', b: '^1.2' })
  })
  it('is refused without a name, with an empty range, and twice', () => {
    expect(() => readSkillReference('@^1')).toThrow('does not name a skill')
    expect(() => readSkillReference('a@')).toThrow('does not name a skill')
    expect(() => readRequires(['a@^1', 'a@^2'])).toThrow('asked for twice')
  })
})

describe('the arguments of a call', () => {
  const nothing = (async function* () {})()
  it('are JSON, or come from standard input in pieces', async () => {
    expect(await readParams('{"a": [1, "ü"]}', nothing)).toEqual({ a: [1, 'ü'] })
    const bytes = Buffer.from('{"a": "ü"}')
    const pieces = (async function* () {
      for (const byte of bytes) yield Buffer.from([byte])
    })()
    expect(await readParams('-', pieces)).toEqual({ a: 'ü' })
  })
  it.each([
    ['{"a":1', /not JSON/],
    ['', /not JSON/],
    ['[1]', /a JSON object/],
    ['null', /a JSON object/],
    ['{"id": 12345678901234567890}', /beyond 2\^53/],
    ['{"a":1,"a":2}', /stands twice/],
  ])('are refused before they are sent: %s', async (text, message) => {
    await expect(readParams(text, nothing)).rejects.toMatchObject({ exit: 'badInput', message: expect.stringMatching(message) as string })
  })
  it('from a file that is not there are a misuse', async () => {
    await expect(readParams('@/nowhere/at/all.json', nothing)).rejects.toMatchObject({ exit: 'usage' })
  })
})
