import {
  isHighRisk,
  isSkillName,
  isWellFormedKey,
  lineOf,
  lookAlikeKey,
  nameKey,
  nearestName,
  parseExact,
  parseRange,
  permit,
  readCursor,
  readVersion,
  Refusal,
  rememberedRanges,
  writeCursor,
  writeKey,
  type GrantRecord,
} from '@repertoire/core'
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'

const grants = (...patterns: string[]): GrantRecord[] =>
  patterns.map((pattern, index) => ({
    id: `g${index}`,
    agentId: 'a',
    pattern: pattern.replace(/^!/, ''),
    deny: pattern.startsWith('!'),
    expiresAt: null,
  }))
const allows = (held: string[], tags: string[]): boolean => permit(grants(...held), tags, 0).allow

describe('permission', () => {
  it.each([
    [[], [], true],
    [[], ['fs:read'], false],
    [['fs:read'], ['fs:read'], true],
    [['fs:read:*'], ['fs:read'], false],
    [['fs:read:*'], ['fs:read:reports'], true],
    [['orders:*'], ['orders:read', 'orders:write'], true],
    [['orders:read'], ['orders:read', 'orders:write'], false],
    [['network'], ['network:api.example.com'], false],
    [['*'], ['orders:read'], true],
    [['*'], ['smtp'], false],
    [['fs:*'], ['fs:write'], false],
    [['fs:*'], ['fs:write:reports'], false],
    [['fs:*'], ['fs:read'], true],
    [['fs:write'], ['fs:write'], true],
    [['filesystem'], ['fs'], true],
    [['fs'], ['filesystem'], true],
    [['orders:read', '!orders:*'], ['orders:read'], false],
    [['smtp', '!*'], ['smtp'], false],
  ])('%j over %j is %s', (held, tags, expected) => {
    expect(allows(held, tags)).toBe(expected)
  })
  it('ends with its time', () => {
    const timed = [{ id: 'g', agentId: 'a', pattern: 'x', deny: false, expiresAt: 100 }]
    expect([permit(timed, ['x'], 99).allow, permit(timed, ['x'], 100).allow]).toEqual([true, false])
  })
  it('names the missing tags and the rule that decided', () => {
    expect(permit(grants('a', '!b'), ['a', 'b', 'c'], 0)).toEqual({ allow: false, missing: ['b', 'c'], denied: ['b'], ruleId: 'g1' })
    expect(permit(grants('a'), ['a'], 0).ruleId).toBe('g0')
  })
  it('knows what only an explicit grant covers', () => {
    expect(['fs', 'fs:write', 'fs:write:x', 'smtp', 'network:h', 'exec', 'fs:read', 'orders'].map(isHighRisk)).toEqual([
      true,
      true,
      true,
      true,
      true,
      true,
      false,
      false,
    ])
  })
})

describe('a version', () => {
  it.each([
    ['1.2.3', '1.2.3'],
    ['1.2.3-rc.1', '1.2.3-rc.1'],
    ['0.1.0', '0.1.0'],
  ])('%s is taken', (text, canonical) => {
    const verdict = readVersion(text)
    expect(verdict.ok && verdict.version.version).toBe(canonical)
  })
  it.each([
    ['1.10', 'write "1.10.0"'],
    ['2', 'write "2.0.0"'],
    ['v1.2.3', 'write "1.2.3"'],
    ['1.2.3+build', 'write "1.2.3"'],
    ['01.2.3', 'write three numbers, such as "1.0.0"'],
    ['latest', 'write three numbers, such as "1.0.0"'],
  ])('%s is refused with a fix', (text, fix) => {
    const verdict = readVersion(text)
    expect(verdict.ok || verdict.fix).toBe(fix)
  })
  it('belongs to a line', () => {
    expect(['1.2.3', '0.3.1', '0.0.4', '12.0.0'].map((text) => lineOf(parseExact(text) ?? ({} as never)))).toEqual([
      '1',
      '0.3',
      '0.0',
      '12',
    ])
  })
})

describe('a range', () => {
  it('is refused when it is empty, too long, has too many alternatives, or is none', () => {
    for (const text of ['', '   ', 'x'.repeat(129), Array.from({ length: 9 }, (_, n) => n).join('||'), 'banana'])
      expect(() => parseRange(text)).toThrow(expect.objectContaining({ code: 'INVALID_RANGE' }))
  })
  it('of 128 characters and 8 alternatives is taken', () => {
    expect(parseRange(Array.from({ length: 8 }, (_, n) => `^${n}`).join(' || ')).pin).toBeUndefined()
    expect(parseRange(`^1${' '.repeat(126)}`).text).toBe('^1')
  })
  it('is remembered within a bound', () => {
    for (let index = 0; index < 10_000; index += 1) parseRange(`^1.${index}`)
    expect(rememberedRanges()).toBeLessThanOrEqual(4096)
  })
})

describe('a name', () => {
  it('is one skill under both spellings, and looks like another by look-alikes alone', () => {
    expect([
      nameKey('Query-Order'),
      lookAlikeKey('m0dern-1ist') === lookAlikeKey('modern-list'),
      lookAlikeKey('abc') === lookAlikeKey('abd'),
    ]).toEqual(['query_order', true, false])
  })
  it.each([
    ['query-order', true],
    ['query_order', true],
    ['a1', true],
    ['1a', false],
    ['a--b', false],
    ['A', false],
    ['a-', false],
    ['a'.repeat(65), false],
    ['', false],
  ])('%s: %s', (name, expected) => {
    expect(isSkillName(name)).toBe(expected)
  })
  it('is suggested within two edits', () => {
    expect([nearestName('qeury', ['query', 'order']), nearestName('xyz', ['query'])]).toEqual(['query', undefined])
  })
})

describe('a key', () => {
  it('has its checksum', () => {
    const key = writeKey('agent', randomBytes(64))
    expect([
      key.length,
      isWellFormedKey(key),
      isWellFormedKey(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`),
      isWellFormedKey(key.toUpperCase()),
    ]).toEqual(['rep_agent_'.length + 38, true, false, false])
  })
})

describe('a cursor', () => {
  it('is taken back as it was given, and nothing else is', () => {
    expect(readCursor(writeCursor('12:abc'), /^\d+:\w+$/)).toBe('12:abc')
    for (const text of ['', 'x', Buffer.from('c1:; drop').toString('base64url'), `${writeCursor('1:a')}=`])
      expect(() => readCursor(text, /^\d+:\w+$/)).toThrow(Refusal)
  })
})
