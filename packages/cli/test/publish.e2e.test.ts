import { appendFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { greetPerson, inFolder } from './greet-person.ts'
import { startRegistry, writeTree, type Ran, type TestRegistry } from './registry-process.ts'

let registry: TestRegistry
let run: TestRegistry['run']
const at = (...parts: string[]): string => join(registry.folder, ...parts)
const json = <T = Record<string, unknown>>({ out }: Ran): T => JSON.parse(out) as T

beforeAll(async () => {
  registry = await startRegistry(inFolder('greet-person', greetPerson()))
  run = registry.run
})
afterAll(() => registry.stop())

describe('check', () => {
  it('says name, version and the digest the registry has', async () => {
    const { code, out } = await run(['check', at('skills', 'greet-person')])
    expect([code, out]).toEqual([0, expect.stringMatching(/^✓ greet-person 1\.0\.0 sha256:[0-9a-f]{64}$/m) as string])
    const { digest } = json<{ digest: string }>(await run(['show', 'greet-person', '--json']))
    expect(out).toContain(digest)
  })
  it('finds every problem of a folder of skills, with file, line and fix, and no registry', async () => {
    await writeTree(at('desk'), {
      ...inFolder('fine', { 'SKILL.md': '---\nname: fine\nversion: 1.0.0\ndescription: x\npermission: []\n---\n' }),
      'broken/SKILL.md': '---\nname: broken\nversion: 1.0\ndescription: x\npermission: []\n---\n',
      'broken/skill.js': '',
      'broken/input.schema.json': '{\n  "type": "array"\n}',
    })
    const { code, out } = await run(['check', at('desk')], { env: { REPERTOIRE_URL: 'http://127.0.0.1:1', REPERTOIRE_KEY_FILE: '' } })
    expect(code).toBe(3)
    expect(out).toContain('SKILL.md:3 version 1.0 is not a full semver version → write "1.0.0"')
    expect(out).toContain('input.schema.json:2 the root type is not object → write "type": "object" at the root')
    expect(out).toContain('2 skills checked: 1 can be published, 1 cannot')
  })
  it('as JSON says the same', async () => {
    const ran = await run(['check', at('desk'), '--json'])
    expect(ran.code).toBe(3)
    expect(json(ran)).toMatchObject({
      skills: [
        { ok: false, name: 'broken', version: null },
        { ok: true, name: 'fine', version: '1.0.0', kind: 'playbook', findings: [] },
      ],
    })
  })
})

describe('publish', () => {
  it('stores nothing on a dry run', async () => {
    await writeTree(at('work', 'greet-person'), greetPerson('1.1.0'))
    await writeFile(at('work', 'greet-person', 'logo.bin'), Buffer.from([0xff, 0x00, 0xfe]))
    const ran = await run(['publish', at('work', 'greet-person'), '--dry-run'])
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('greet-person 1.1.0 would be published') as string])
    expect(json<{ items: unknown[] }>(await run(['show', 'greet-person', '--versions', '--json'])).items).toHaveLength(1)
  })
  it('publishes a candidate, and the same bytes again change nothing', async () => {
    const first = await run(['publish', at('work', 'greet-person'), '--json'])
    expect([first.code, json(first)]).toEqual([
      0,
      expect.objectContaining({ name: 'greet-person', version: '1.1.0', status: 'candidate', created: true }),
    ])
    const again = await run(['publish', at('work', 'greet-person')])
    expect([again.code, again.out]).toEqual([0, expect.stringContaining('unchanged')])
  })
  it('of other bytes under the same version ends with 6 and both digests', async () => {
    await appendFile(at('work', 'greet-person', 'SKILL.md'), 'more\n')
    const ran = await run(['publish', at('work', 'greet-person')])
    expect([ran.code, ran.out]).toEqual([6, ''])
    expect(ran.err).toMatch(
      /^repertoire: greet-person 1\.1\.0 was published with other bytes.*\(VERSION_EXISTS\)\n {2}\/digest: expected sha256:\w+, got sha256:\w+\n {2}hint: raise the version number/,
    )
  })
  it('of a broken skill ends with 3 before it asks the registry', async () => {
    const ran = await run(['publish', at('desk', 'broken'), '--json'])
    expect(ran.code).toBe(3)
    expect(json(ran)).toMatchObject({
      error: {
        code: 'INVALID_MANIFEST',
        details: expect.arrayContaining([expect.objectContaining({ file: 'SKILL.md', line: 3, fix: 'write "1.0.0"' })]) as unknown,
      },
    })
    const many = await run(['publish', at('desk')])
    expect([many.code, many.err]).toEqual([2, expect.stringContaining('not a skill folder')])
  })
})

describe('release', () => {
  it('needs a reason', async () => {
    expect((await run(['release', 'greet-person', '1.1.0'])).code).toBe(2)
    const short = await run(['release', 'greet-person', '1.1.0', '--reason', 'x'])
    expect([short.code, short.err]).toEqual([2, expect.stringContaining('at least 8 characters')])
  })
  it('makes the line serve the version, once', async () => {
    const first = await run(['release', 'greet-person', '1.1.0', '--reason', 'it was looked at', '--yes'])
    expect([first.code, first.out]).toEqual([0, 'greet-person 1.1.0 is released now; line 1 serves 1.1.0 (before: 1.0.0)\n'])
    const again = await run(['release', 'greet-person', '1.1.0', '--reason', 'it was looked at', '--yes', '--json'])
    expect([again.code, json(again)]).toEqual([0, expect.objectContaining({ changed: false, stable: '1.1.0' })])
  })
  it('of a version that is not there ends with 5', async () => {
    const ran = await run(['release', 'greet-person', '7.0.0', '--reason', 'it was looked at', '--yes'])
    expect([ran.code, ran.err]).toEqual([5, expect.stringContaining('VERSION_NOT_FOUND')])
  })
})

describe('list, show and resolve', () => {
  it('list every skill with its version', async () => {
    expect((await run(['list'])).out).toMatch(
      /^NAME +VERSION +STATUS +KIND +NEEDS +DESCRIPTION\ngreet-person +1\.1\.0 +released +code +Greets a person by name\.\n$/,
    )
    expect((await run(['list', '--view', 'names'])).out).toBe('greet-person\n')
    expect(json(await run(['list', '--json']))).toMatchObject({
      items: [{ name: 'greet-person', version: '1.1.0', via: 'stable' }],
      next_cursor: null,
    })
  })
  it('show one skill, its versions and its schemas', async () => {
    const { code, out } = await run(['show', 'greet-person'])
    expect(code).toBe(0)
    for (const part of ['greet-person 1.1.0 (released)', 'logo.bin', '# Greet a person', 'NOBODY_THERE']) expect(out).toContain(part)
    expect((await run(['show', 'greet_person', '--versions'])).out).toMatch(/1\.1\.0 +released +serves line 1 .*\n1\.0\.0 +released/)
    expect(json(await run(['show', 'greet-person', '--schema', '--json']))).toMatchObject({ input_schema: { required: ['name'] } })
    expect(json(await run(['show', 'greet-person@1.0.0', '--json']))).toMatchObject({ version: '1.0.0', resolution: { via: 'pinned' } })
  })
  it('show the newest version of what nobody released, and say so', async () => {
    await run(['publish', at('desk', 'fine')])
    const ran = await run(['show', 'fine'])
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('fine 1.0.0 (candidate)')])
    expect(ran.err).toContain('no range gets fine')
    expect((await run(['show', 'fine@^1'])).code).toBe(5)
  })
  it('resolve several ranges at one revision, and end with 5 when one has no version', async () => {
    const good = await run(['resolve', 'greet-person@~1.0.0', 'greet_person@^1'])
    expect([good.code, good.out]).toEqual([
      0,
      expect.stringMatching(/~1\.0\.0 +1\.0\.0 +stable\ngreet_person +\^1 +1\.1\.0 +stable\nrevision \d+\n$/),
    ])
    const bad = await run(['resolve', 'greet-person@^9', 'greet_person@^1', '--json'])
    expect([bad.code, json(bad)]).toEqual([
      5,
      expect.objectContaining({
        resolved: {
          'greet-person': { error: expect.objectContaining({ code: 'NO_MATCHING_VERSION' }) as unknown },
          greet_person: expect.objectContaining({ version: '1.1.0' }) as unknown,
        },
      }),
    ])
    expect((await run(['resolve', 'greet-person@not a range'])).code).toBe(3)
    expect((await run(['show', 'absent-skill'])).code).toBe(5)
  })
})

describe('import', () => {
  const manifest = (name: string, text: string): string => `---\nname: ${name}\ndescription: ${text}\n---\n${text}\n`
  const defaults = ['--default-version', '1.0.0', '--default-permission', 'none']
  beforeAll(async () => {
    await writeTree(at('library'), {
      'a/good/SKILL.md': manifest('good-skill', 'One.'),
      'a/good/references/guide.md': 'See also.',
      'a/good/inner/SKILL.md': manifest('inner-skill', 'Inside.'),
      'a/broken/SKILL.md': '---\nname: broken-skill\ndescription: a: b\n---\n',
      'b/other/good/SKILL.md': manifest('good-skill', 'Two.'),
      'c/copy/good/SKILL.md': manifest('good-skill', 'One.'),
      'd/good-skil1/SKILL.md': manifest('good-skil1', 'Looks alike.'),
    })
    await writeTree(at('library'), {
      'c/copy/good/references/guide.md': 'See also.',
      'c/copy/good/inner/SKILL.md': manifest('inner-skill', 'Inside.'),
    })
    await symlink('/etc/hostname', at('library', 'a', 'good', 'host'))
  })
  const results = {
    'a/broken': 'refused',
    'a/good': 'published',
    'a/good/inner': 'published',
    'b/other/good': 'refused',
    'c/copy/good': 'unchanged',
    'c/copy/good/inner': 'unchanged',
    'd/good-skil1': 'refused',
  }
  type Report = {
    counts: Record<string, number>
    folders: {
      folder: string
      result: string
      reason: { code: string; message: string } | null
      same_as: string | null
      findings: { line: number }[]
    }[]
    remarks: string[]
  }
  const resultsOf = (report: Report): Record<string, string> =>
    Object.fromEntries(report.folders.map(({ folder, result }) => [folder, result]))

  it('foresees on a dry run what it will do, and stores nothing', async () => {
    const ran = await run(['import', at('library'), ...defaults, '--dry-run', '--json'])
    expect([ran.code, resultsOf(json<Report>(ran))]).toEqual([0, results])
    expect((await run(['show', 'good-skill'])).code).toBe(5)
  })
  it('accounts for every folder: published, already there, or refused with the reason', async () => {
    const ran = await run(['import', at('library'), ...defaults, '--report', at('report.json'), '--json'])
    const report = json<Report>(ran)
    expect([ran.code, resultsOf(report)]).toEqual([0, results])
    expect(report.counts).toEqual({ folders: 7, published: 2, unchanged: 2, refused: 3, not_reached: 0, released: 0, release_refused: 0 })
    const reasonOf = (folder: string): unknown => report.folders.find((entry) => entry.folder === folder)
    expect(reasonOf('a/broken')).toMatchObject({ findings: [{ line: 3 }] })
    expect(reasonOf('b/other/good')).toMatchObject({
      reason: { code: 'VERSION_EXISTS', message: 'good-skill 1.0.0 has other bytes in a/good, which came first.' },
    })
    expect(reasonOf('c/copy/good')).toMatchObject({ same_as: 'a/good' })
    expect(reasonOf('d/good-skil1')).toMatchObject({ reason: { code: 'NAME_TOO_SIMILAR' } })
    expect(report.remarks).toEqual([expect.stringContaining('a/good/host: it is a symbolic link')])
    expect(json(await run(['show', 'good-skill', '--json']))).toMatchObject({ defaults: { version: '1.0.0', permission: [] } })
  })
  it('again changes nothing, says it to a person, and with --strict ends with 10', async () => {
    const ran = await run(['import', at('library'), ...defaults, '--strict'])
    expect(ran.code).toBe(10)
    expect(ran.out).toMatch(/^7 folders in [\d.]+ s: 0 published, 4 already there, 3 refused\n/)
    expect(ran.out).toContain(
      '  b/other/good: VERSION_EXISTS good-skill 1.0.0 has other bytes in a/good, which came first. → rename one of the two skills',
    )
    expect(ran.out).toMatch(/ {2}a\/broken: SKILL\.md:3 YAML: /)
  })
  it('releases what it is told to release', async () => {
    const ran = await run(['import', at('library', 'a', 'good'), ...defaults, '--release', '--reason', 'looked at by a test', '--quiet'])
    expect([ran.code, ran.out.split('\n')[0], ran.err]).toEqual([
      0,
      expect.stringMatching(/^2 folders in [\d.]+ s: 0 published, 2 already there, 0 refused, 2 released$/),
      '',
    ])
    expect((await run(['resolve', 'good-skill@^1', 'inner-skill@^1'])).code).toBe(0)
  })
  it('that is interrupted says how far it came, and goes on where it ended', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `many-${String(index).padStart(3, '0')}-skills`)
    await writeTree(at('many'), Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, manifest(name, 'One of many.')])))
    const child = registry.start(['import', at('many'), ...defaults, '--json'])
    await new Promise<void>((resolve) =>
      child.process.stderr?.on('data', (text: string) => (text.includes('100 of 150 folders handled') ? resolve() : undefined)),
    )
    child.process.kill('SIGINT')
    const ran = await child.ended
    const { counts, stopped } = json<{ counts: Record<string, number>; stopped: { code: string } }>(ran)
    expect([ran.code, stopped.code]).toEqual([130, 'INTERRUPTED'])
    expect((counts['published'] ?? 0) + (counts['not_reached'] ?? 0)).toBe(150)
    expect(counts['not_reached']).toBeGreaterThan(0)
    const again = json<{ counts: Record<string, number> }>(await run(['import', at('many'), ...defaults, '--json']))
    expect(again.counts).toMatchObject({ published: counts['not_reached'], unchanged: counts['published'], refused: 0, not_reached: 0 })
  })
  it('refuses a default no skill could have, a folder without skills, and a report it cannot write', async () => {
    expect((await run(['import', at('library'), '--default-version', '1.0'])).code).toBe(2)
    expect((await run(['import', at('data', 'secrets')])).code).toBe(2)
    expect((await run(['import', at('library'), '--report', at('no', 'such', 'folder.json')])).code).toBe(2)
    await rm(at('report.json'))
  })
})
