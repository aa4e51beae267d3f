import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { checkFolder } from '../src/check-folder.ts'
import { findSkillsBelow, findSkillsIn } from '../src/find-skills.ts'
import { writePublishBody } from '../src/publish-body.ts'
import { readFolder } from '../src/read-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'repertoire-cli-'))
const write = (path: string, content: string | Uint8Array = ''): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}
const skill = (name: string, more = ''): string =>
  `---\nname: ${name}\nversion: 1.0.0\ndescription: It does ${name}.\npermission: []\n${more}---\nDo it.\n`

afterAll(() => rmSync(root, { recursive: true }))

describe('the files of a skill', () => {
  it('are all files below its folder but tests and what tools leave behind', async () => {
    for (const path of [
      'SKILL.md',
      'references/a b.md',
      '.hidden',
      'test/x.js',
      'tests/y.js',
      'node_modules/z.js',
      '__pycache__/p.pyc',
      '.DS_Store',
      'deep/tests/q',
    ])
      write(`files/${path}`, path)
    const { files, findings } = await readFolder(join(root, 'files'))
    expect([...files.keys()]).toEqual(['.hidden', 'SKILL.md', 'references/a b.md'])
    expect(findings).toEqual([])
  })
  it('never are links, which is said', async () => {
    write('linked/SKILL.md')
    symlinkSync('/etc/hostname', join(root, 'linked', 'host'))
    const { files, findings } = await readFolder(join(root, 'linked'))
    expect([...files.keys()]).toEqual(['SKILL.md'])
    expect(findings).toMatchObject([{ level: 'warning', file: 'host', message: expect.stringContaining('symbolic link') as string }])
  })
  it('are not even read when they are too many bytes', async () => {
    write('huge/SKILL.md')
    truncateSync(write('huge/data.bin'), 3 * 1024 ** 3)
    expect(await readFolder(join(root, 'huge'))).toMatchObject({
      files: new Map(),
      findings: [{ level: 'error', file: '.', message: expect.stringContaining('3221225472 bytes') as string }],
    })
  })
})

describe('a check', () => {
  it('names file, line and fix of everything at once', async () => {
    write('bad/SKILL.md', '---\nname: bad\nversion: 1.10\ndescription: x\npermission: fs\n---\n')
    write('bad/input.schema.json', '{\n  "type": "object",\n  "properties": {"a": {"type": "strin"}}\n}')
    const { passed, findings } = await checkFolder(join(root, 'bad'), { folderMismatch: 'error', proves: true })
    expect(passed).toBeUndefined()
    expect(
      findings
        .filter((finding) => finding.level === 'error')
        .map((finding) => `${finding.file}:${finding.line ?? ''} ${finding.fix ?? ''}`),
    ).toEqual([
      'SKILL.md:3 write "1.10.0"',
      'SKILL.md:5 write a list: permission: [first, second]',
      'input.schema.json:3 correct the keyword it names',
    ])
  })
  it('says name, version and digest of a good skill, and takes a folder with its version', async () => {
    write('good-one@1.0.0/SKILL.md', skill('good-one'))
    const { passed } = await checkFolder(join(root, 'good-one@1.0.0'), { folderMismatch: 'error', proves: true })
    expect(passed).toEqual({
      name: 'good-one',
      version: '1.0.0',
      kind: 'playbook',
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string,
    })
  })
})

describe('finding skills', () => {
  it('takes a folder itself, or those directly in it, and names those passed over', async () => {
    write('shelf/one/SKILL.md')
    write('shelf/two/skill.txt')
    write('shelf/deep/er/SKILL.md')
    expect(await findSkillsIn(join(root, 'shelf', 'one'))).toEqual({ folders: [join(root, 'shelf', 'one')], remarks: [] })
    const { folders, remarks } = await findSkillsIn(join(root, 'shelf'))
    expect(folders.map((path) => relative(root, path))).toEqual(['shelf/one'])
    expect(remarks).toHaveLength(2)
  })
  it('below a directory finds every SKILL.md at any depth, inside other skills and in the wrong case too', async () => {
    for (const path of [
      'lib/b/SKILL.md',
      'lib/a/SKILL.md',
      'lib/a/inner/SKILL.md',
      'lib/.config/c/SKILL.md',
      'lib/d/skill.md',
      'lib/node_modules/x/SKILL.md',
      'lib/.git/y/SKILL.md',
    ])
      write(path)
    symlinkSync(join(root, 'shelf'), join(root, 'lib', 'elsewhere'))
    symlinkSync(join(root, 'shelf'), join(root, 'lib', 'a', 'told-by-its-skill'))
    mkdirSync(join(root, 'lib', 'e'))
    symlinkSync(join(root, 'lib/a/SKILL.md'), join(root, 'lib', 'e', 'SKILL.md'))
    const { folders, remarks } = await findSkillsBelow(join(root, 'lib'))
    expect(folders.map((path) => relative(join(root, 'lib'), path))).toEqual(['.config/c', 'a', 'a/inner', 'b', 'd', 'e'])
    expect(remarks.map((remark) => remark.replace(root, ''))).toEqual([
      '/lib/elsewhere is a symbolic link, and was not followed',
      '/lib/node_modules was not searched',
    ])
  })
  it('that finds none is a misuse', async () => {
    mkdirSync(join(root, 'empty'))
    await expect(findSkillsIn(join(root, 'empty'))).rejects.toMatchObject({ exit: 'usage' })
    await expect(findSkillsBelow(join(root, 'empty'))).rejects.toMatchObject({ exit: 'usage' })
    await expect(findSkillsBelow(join(root, 'absent'))).rejects.toThrow('there is no such folder')
    await expect(findSkillsIn(join(root, 'shelf/one/SKILL.md'))).rejects.toMatchObject({ hint: 'name the folder, not the file' })
  })
})

describe('the body of a publish', () => {
  it('carries every byte: text as text, the rest as base64', () => {
    const files = new Map<string, Uint8Array>([
      ['SKILL.md', Buffer.from('\uFEFFgrüße\r\n')],
      ['logo.png', Buffer.from([0x89, 0xff, 0x00])],
      ['nul.txt', Buffer.from('a\u0000b')],
      ['escapes.txt', Buffer.from('\u0001'.repeat(1000))],
      ['__proto__', Buffer.from('x')],
    ])
    const body = JSON.parse(JSON.stringify(writePublishBody({ files, folder: 'f' }))) as {
      files: Record<string, string | { base64: string }>
    }
    expect(Object.keys(body.files)).toEqual([...files.keys()])
    for (const [path, content] of Object.entries(body.files)) {
      expect(Buffer.from(typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'))).toEqual(
        Buffer.from(files.get(path) ?? []),
      )
    }
    expect(Object.values(body.files).map((content) => typeof content)).toEqual(['string', 'object', 'object', 'object', 'string'])
  })
})
