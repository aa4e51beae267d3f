import { RepertoireError } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'
import { readDefaults } from '../src/import/check-defaults.ts'
import { foresee } from '../src/import/foresee.ts'
import { countOutcomes, type FolderOutcome } from '../src/import/outcome.ts'
import { createPatience, type Patience } from '../src/import/patience.ts'
import { untouched, type PlannedFolder } from '../src/import/plan-import.ts'
import { generalReason, sayImport } from '../src/import/say-import.ts'

const away = new RepertoireError({ code: 'UNREACHABLE', origin: 'network', effect: 'none', next: 'retry', message: 'away', status: 0 })
const busy = new RepertoireError({ code: 'BUSY', origin: 'registry', effect: 'none', next: 'retry', message: 'busy', status: 503 })
const no = new RepertoireError({
  code: 'VERSION_EXISTS',
  origin: 'registry',
  effect: 'none',
  next: 'fix_input',
  message: 'no',
  status: 409,
})

function patienceAt(clock: { ms: number }, isOver = false): Patience {
  return createPatience({
    patienceMs: 60_000,
    nowMs: () => clock.ms,
    sleep: (ms) => {
      clock.ms += ms
      return Promise.resolve()
    },
    random: () => 1,
    onPause: () => undefined,
    isOver: () => isOver,
  })
}

describe('patience', () => {
  it('tries again while the registry is busy or away, more slowly each time', async () => {
    const clock = { ms: 0 }
    const pauses: number[] = []
    let tries = 0
    const result = await patienceAt(clock).attempt(() => {
      pauses.push(clock.ms)
      tries += 1
      return tries < 5 ? Promise.reject(tries % 2 === 0 ? busy : away) : Promise.resolve('done')
    })
    expect(result).toBe('done')
    expect(pauses).toEqual([0, 250, 750, 1750, 3750])
  })
  it('ends when nothing was answered for a minute, and an answer renews it', async () => {
    const clock = { ms: 0 }
    const patience = patienceAt(clock)
    await expect(patience.attempt(() => Promise.reject(away))).rejects.toBe(away)
    expect(clock.ms).toBeGreaterThanOrEqual(60_000)
    expect(clock.ms).toBeLessThan(66_000)
    await expect(patience.attempt(() => Promise.reject(no))).rejects.toBe(no)
    let tries = 0
    await expect(patience.attempt(() => ((tries += 1) === 1 ? Promise.reject(busy) : Promise.resolve(tries)))).resolves.toBe(2)
  })
  it('does not ask twice what was refused, and stops when all is over', async () => {
    let tries = 0
    const count = (error: Error) => () => {
      tries += 1
      return Promise.reject(error)
    }
    await expect(patienceAt({ ms: 0 }).attempt(count(no))).rejects.toBe(no)
    await expect(patienceAt({ ms: 0 }, true).attempt(count(busy))).rejects.toBe(busy)
    expect(tries).toBe(2)
  })
})

describe('what fills in for a silent front matter', () => {
  it('is a version and tags, or no tag at all', () => {
    expect(readDefaults('1.0.0', 'none')).toEqual({ version: '1.0.0', permission: [] })
    expect(readDefaults(undefined, 'fs:read, smtp')).toEqual({ permission: ['fs:read', 'smtp'] })
    expect(readDefaults(undefined, undefined)).toEqual({})
  })
  it.each([
    ['1.0', undefined],
    ['v1.0.0', undefined],
    [undefined, 'Not A Tag'],
    [undefined, ''],
  ])('is refused once and not for every folder: %j %j', (version, permission) => {
    expect(() => readDefaults(version, permission)).toThrow('A default cannot be taken')
  })
})

const planned = (folder: string, name: string, digest = folder): PlannedFolder => ({
  path: `/x/${folder}`,
  folder,
  name,
  version: '1.0.0',
  digest,
  findings: [],
})

describe('a dry run', () => {
  it('foresees what the folders before one would have taken', () => {
    expect(foresee(planned('b', 'same', 'd'), [planned('a', 'same', 'd')])).toMatchObject({ result: 'unchanged', same_as: 'a' })
    expect(foresee(planned('b', 'same_name'), [planned('a', 'same-name')])).toMatchObject({
      result: 'refused',
      reason: { code: 'VERSION_EXISTS', message: expect.stringContaining('in a, which came first') as string },
    })
    expect(foresee(planned('b', 'too1'), [planned('a', 'tool')])).toMatchObject({ result: 'refused', reason: { code: 'NAME_TOO_SIMILAR' } })
    expect(foresee(planned('b', 'alone'), [])).toBeUndefined()
  })
})

describe('the account of an import', () => {
  const refused = (folder: string, message: string, line = 3): FolderOutcome => ({
    ...untouched(folder),
    result: 'refused',
    reason: { code: 'INVALID_MANIFEST', message: 'cannot be published', hint: null },
    findings: [
      { level: 'warning', file: 'SKILL.md', line: 1, message: 'odd', fix: null },
      { level: 'error', file: 'SKILL.md', line, message, fix: 'mend it' },
    ],
  })
  const folders: FolderOutcome[] = [
    { ...untouched('a'), name: 'a', version: '1.0.0', result: 'published', released: true },
    {
      ...untouched('b'),
      name: 'b',
      version: '1.0.0',
      result: 'published',
      reason: { code: 'ROLE_REQUIRED', message: 'This needs the role operator.', hint: null },
    },
    { ...untouched('c'), name: 'a', version: '1.0.0', result: 'unchanged', same_as: 'a' },
    ...[1, 2, 3, 4].map((index) => refused(`bad-${index}`, `version 1.${index} is not a full semver version`)),
    {
      ...untouched('d'),
      result: 'refused',
      reason: { code: 'VERSION_EXISTS', message: 'd 1.0.0 has other bytes in a, which came first.', hint: 'rename one' },
    },
    { ...untouched('e\u001b[31m'), result: 'not_reached' },
  ]
  const report = {
    directory: '/x',
    registry: 'http://r',
    dry_run: false,
    started_at: '',
    duration_ms: 1234,
    stopped: null,
    counts: countOutcomes(folders),
    remarks: [],
    folders,
  }
  it('counts every folder once', () => {
    expect(report.counts).toEqual({ folders: 9, published: 2, unchanged: 1, refused: 5, not_reached: 1, released: 1, release_refused: 1 })
  })
  it('puts one reason together, whatever differs from folder to folder', () => {
    const reasons = [
      refused('x', 'YAML: Nested mappings are not allowed (column 9)'),
      refused('y', 'YAML: Nested mappings are not allowed (column 31)', 7),
      refused('z', 'version "v1" is not semver'),
    ].map(generalReason)
    expect(reasons).toEqual([
      'SKILL.md: YAML: Nested mappings are not allowed',
      'SKILL.md: YAML: Nested mappings are not allowed',
      'SKILL.md: version "…" is not semver',
    ])
  })
  it('says counts, reasons with examples, and every refused folder', () => {
    const text = sayImport(report)
    expect(text).toContain('9 folders in 1.2 s: 2 published, 1 already there, 5 refused, 1 not reached, 1 released\n')
    expect(text).toContain(
      '    4  SKILL.md: version … is not a full semver version\n       → mend it\n       bad-1, bad-2, bad-3 and 1 more\n',
    )
    for (const index of [1, 2, 3, 4])
      expect(text).toContain(`  bad-${index}: SKILL.md:3 version 1.${index} is not a full semver version → mend it\n`)
    expect(text).toContain('  d: VERSION_EXISTS d 1.0.0 has other bytes in a, which came first. → rename one\n')
    expect(text).toContain('published but not released, by reason\n    1  ROLE_REQUIRED')
    expect(text).toContain('1 folder held the same bytes as an earlier one, such as c (like a)')
    expect(text).not.toContain('\u001b')
  })
})
