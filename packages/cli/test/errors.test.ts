import { errorCatalogue } from '@repertoire/contract/sdk'
import { RepertoireError, type Detail } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'
import { CommandError, usageError } from '../src/command-error.ts'
import { exits } from '../src/exit-codes.ts'
import { exitOf } from '../src/exit-of.ts'
import { errorAsData, explainDetail, explainError } from '../src/explain-error.ts'

const refusal = (parts: Partial<ConstructorParameters<typeof RepertoireError>[0]>): RepertoireError =>
  new RepertoireError({
    code: 'SOME_CODE',
    origin: 'registry',
    effect: 'none',
    next: 'fix_input',
    message: 'It is not so.',
    status: 400,
    ...parts,
  })

describe('the exit code', () => {
  it('is one number for each kind of end', () => {
    const codes = Object.values(exits).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })
  it.each([
    ['NO_UNITS', 'badInput'],
    ['CANARY_UNREACHABLE', 'badInput'],
    ['PRECONDITION_REQUIRED', 'badInput'],
    ['ROLLOUT_ACTIVE', 'conflict'],
    ['ILLEGAL_TRANSITION', 'conflict'],
    ['REVISION_MISMATCH', 'conflict'],
    ['VERSION_WITHDRAWN', 'conflict'],
    ['SNAPSHOT_STALE', 'unavailable'],
  ] as const)('of a command that is refused with %s is %s, and its hint is shown', (code, exit) => {
    const error = refusal({ code, status: errorCatalogue[code].status, hint: 'do this instead' })
    expect(exitOf(error)).toBe(exit)
    expect(explainError(error)).toBe(`repertoire: It is not so. (${code})\n  hint: do this instead\n`)
  })
  it.each([
    [400, 'badInput'],
    [401, 'denied'],
    [403, 'denied'],
    [404, 'notFound'],
    [405, 'badInput'],
    [408, 'unavailable'],
    [409, 'conflict'],
    [410, 'conflict'],
    [412, 'conflict'],
    [413, 'badInput'],
    [422, 'badInput'],
    [431, 'badInput'],
    [500, 'bug'],
    [502, 'executorFailed'],
    [503, 'unavailable'],
    [504, 'unavailable'],
  ] as const)('after status %i is that of %s', (status, exit) => {
    expect(exitOf(refusal({ status }))).toBe(exit)
  })
  it('after every code of the catalogue is one on purpose: only a fault of the registry is 1', () => {
    const faults = Object.entries(errorCatalogue).filter(
      ([code, { status, origin }]) => exitOf(refusal({ code, status, origin })) === 'bug',
    )
    expect(faults.map(([, { status }]) => status)).toEqual([500])
  })
  it('tells the no of a skill and a silent network from a no of the registry', () => {
    expect(exitOf(refusal({ status: 200, origin: 'skill' }))).toBe('skillError')
    expect(exitOf(refusal({ status: 0, origin: 'network' }))).toBe('unavailable')
    expect(exitOf(refusal({ status: 200, origin: 'network' }))).toBe('unavailable')
  })
  it('is 2 for misuse and 1 for whatever nobody foresaw', () => {
    expect([exitOf(usageError('no')), exitOf(new TypeError('x is undefined')), exitOf('text')]).toEqual(['usage', 'bug', 'bug'])
  })
})

describe('an error as a person reads it', () => {
  it.each<[Detail, string]>([
    [
      { file: 'SKILL.md', line: 3, message: 'version 1.0 is not full', fix: 'write "1.0.0"' },
      'SKILL.md:3 version 1.0 is not full → write "1.0.0"',
    ],
    [{ file: 'schema.json', message: 'it is not JSON' }, 'schema.json it is not JSON'],
    [
      { path: '/nam', rule: 'required', expected: 'name', got: 'nam', fix: 'rename nam to name' },
      '/nam: rule required, expected name, got nam → rename nam to name',
    ],
    [{ path: '', rule: 'type', expected: 'object', got: 'array' }, '(the whole): rule type, expected object, got array'],
    [{ path: '/x', rule: 'enum', allowed: ['a', 1], did_you_mean: 'a' }, '/x: rule enum, allowed "a", 1 → did you mean a?'],
  ])('says a detail on one line: %j', (detail, line) => {
    expect(explainDetail(detail)).toBe(line)
  })
  it('has the sentence, the details, the hint and the call', () => {
    const meta = { request_id: 'r', revision: 1, warnings: [], call_id: 'c-1' }
    expect(explainError(refusal({ hint: 'do that', details: [{ path: '/a', rule: 'type' }], meta, effect: 'possible' }))).toBe(
      'repertoire: It is not so. (SOME_CODE)\n  /a: rule type\n  hint: do that\n  call c-1; its effect: possible\n',
    )
  })
  it('says once what stands in a detail and in the hint', () => {
    const hint = 'SKILL.md:3: it is bad — mend it'
    expect(explainError(refusal({ hint, details: [{ file: 'SKILL.md', line: 3, message: 'it is bad', fix: 'mend it' }] }))).not.toContain(
      'hint:',
    )
    expect(explainError(refusal({ hint: 'stable: 1.0.0; try ^1', details: [{ reason: 'stable: 1.0.0' }] }))).toBe(
      'repertoire: It is not so. (SOME_CODE)\n  hint: stable: 1.0.0; try ^1\n',
    )
  })
  it('lets nothing from a skill or a registry steer the terminal, and clips what is long', () => {
    const text = explainError(refusal({ code: 'X\u001b[2J', message: 'a\u001b]0;title\u0007', details: [{ message: 'y'.repeat(5000) }] }))
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/)
    expect(text.length).toBeLessThan(500)
  })
  it('shows no stack, not even of a fault of its own', () => {
    expect(explainError(new TypeError('x is undefined'))).toMatch(
      /^repertoire: this is a fault of the command line: TypeError: x is undefined\n  hint: [^\n]+\n$/,
    )
  })
})

describe('an error as data', () => {
  it('holds what the registry said, under one key', () => {
    expect(errorAsData(refusal({ hint: 'h' }))).toEqual({
      error: {
        code: 'SOME_CODE',
        origin: 'registry',
        effect: 'none',
        next: 'fix_input',
        message: 'It is not so.',
        hint: 'h',
        details: [],
        status: 400,
      },
    })
    expect(errorAsData(new CommandError({ exit: 'denied', code: 'NO_KEY', message: 'm' }))).toEqual({
      error: { code: 'NO_KEY', origin: 'command', message: 'm', details: [] },
    })
  })
})
