import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')
// Two and three bytes a character, and two before them, so that a cut by bytes falls into one.
const longLine = `ab${'ä€x'.repeat(20_000)}`

let runner: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner({ mounts: ['workspace', 'reports'] })
  const workspace = join(runner.folder, 'workspace')
  await mkdir(join(workspace, 'notes'))
  await writeFile(join(workspace, 'notes', 'today.md'), '# Today\r\n\nno line end')
  await writeFile(join(workspace, 'long.log'), numbered(1000))
  await writeFile(join(workspace, 'one-line.json'), `${longLine}\nafter\n`)
  await writeFile(join(workspace, 'large.log'), numbered(300_000))
  await writeFile(join(workspace, 'empty'), '')
  await writeFile(join(workspace, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 13]))
  await writeFile(join(workspace, 'latin1.txt'), Buffer.from('Grüße', 'latin1'))
  await writeFile(join(runner.folder, 'secret.txt'), 'outside')
  await symlink('../secret.txt', join(workspace, 'link.txt'))
  await symlink('notes/today.md', join(workspace, 'inner-link.md'))
  await writeFile(join(runner.folder, 'reports', 'weekly.csv'), 'a,b\n')
})
afterAll(() => runner.close())

const read = (args: Record<string, unknown>) => runner.call('read-file', args)

describe('read-file', () => {
  it('answers with a whole small file as it is, in the mount workspace when none is named', async () => {
    expect(dataOf(await read({ path: 'notes/today.md' }))).toEqual({
      mount: 'workspace',
      path: 'notes/today.md',
      text: '# Today\r\n\nno line end',
      first_line: 1,
      last_line: 3,
      total_lines: 3,
      total_bytes: 21,
      truncated: false,
      next_offset: null,
      next_skip_bytes: 0,
    })
  })

  it('reads another mount, an empty file and a link that stays inside', async () => {
    expect(dataOf(await read({ mount: 'reports', path: 'weekly.csv' }))).toMatchObject({
      mount: 'reports',
      text: 'a,b\n',
      total_lines: 1,
      truncated: false,
    })
    expect(dataOf(await read({ path: 'empty' }))).toMatchObject({ text: '', first_line: 1, last_line: 0, total_lines: 0, truncated: false })
    expect(dataOf(await read({ path: 'inner-link.md' }))).toMatchObject({ total_lines: 3 })
  })

  it('cuts after 400 lines, says so, and says where to read on', async () => {
    const first = dataOf(await read({ path: 'long.log' }))
    expect(first).toMatchObject({
      first_line: 1,
      last_line: 400,
      total_lines: 1000,
      truncated: true,
      next_offset: 401,
      next_skip_bytes: 0,
      note: 'Shown are lines 1 to 400 of 1000. Read on with offset 401.',
    })
    expect(first['text']).toBe(numbered(400))
  })

  it('shows the lines that are asked for', async () => {
    expect(dataOf(await read({ path: 'long.log', offset: 999, lines: 1 }))).toMatchObject({
      text: 'line 999\n',
      first_line: 999,
      last_line: 999,
      truncated: true,
      next_offset: 1000,
    })
    expect(dataOf(await read({ path: 'long.log', offset: 1000, lines: 5 }))).toMatchObject({
      text: 'line 1000\n',
      last_line: 1000,
      truncated: false,
      next_offset: null,
    })
    expect(dataOf(await read({ path: 'notes/today.md', offset: 3 }))).toMatchObject({ text: 'no line end', last_line: 3, truncated: false })
  })

  it('counts the lines of a file of several pieces, and finds one far down', async () => {
    expect(dataOf(await read({ path: 'large.log', offset: 299_999 }))).toMatchObject({
      text: 'line 299999\nline 300000\n',
      total_lines: 300_000,
      truncated: false,
    })
  })

  it.each(['long.log', 'one-line.json'])('pages through %s without losing a character', async (path) => {
    const texts: string[] = []
    let at: Record<string, unknown> = { path, offset: 1 }
    for (;;) {
      const page = dataOf(await read(at))
      expect(Buffer.byteLength(String(page['text']))).toBeLessThanOrEqual(48 * 1024)
      texts.push(String(page['text']))
      if (page['truncated'] === false) break
      at = { path, offset: page['next_offset'], ...(page['next_skip_bytes'] === 0 ? {} : { skip_bytes: page['next_skip_bytes'] }) }
    }
    expect(texts.length).toBeGreaterThan(2)
    expect(texts.join('')).toBe(path === 'long.log' ? numbered(1000) : `${longLine}\nafter\n`)
  })

  it.each([
    [{ path: 'notes/today.md', offset: 4 }, 'OFFSET_PAST_END'],
    [{ path: 'long.log', offset: 1001 }, 'OFFSET_PAST_END'],
    [{ path: 'long.log', offset: 1, skip_bytes: 7 }, 'OFFSET_PAST_END'],
    [{ path: 'picture.png' }, 'FILE_NOT_TEXT'],
    [{ path: 'latin1.txt' }, 'FILE_NOT_TEXT'],
    [{ path: 'absent.md' }, 'FILE_NOT_FOUND'],
    [{ path: 'notes' }, 'NOT_A_FILE'],
    [{ path: '../secret.txt' }, 'PATH_OUTSIDE'],
    [{ path: 'notes/../../secret.txt' }, 'PATH_OUTSIDE'],
    [{ path: 'link.txt' }, 'PATH_OUTSIDE'],
    [{ path: '/etc/passwd' }, 'PATH_NOT_RELATIVE'],
    [{ path: 'C:\\secret.txt' }, 'PATH_NOT_RELATIVE'],
    [{ path: 'a', mount: 'elsewhere' }, 'MOUNT_NOT_OPEN'],
  ])('refuses %j with %s', async (args, code) => {
    expect(await read(args)).toMatchObject({ kind: 'refusal', code, retryable: false })
  })

  it('says what to write instead of an absolute path', async () => {
    expect(await read({ path: '/notes/today.md' })).toMatchObject({ message: expect.stringContaining('write notes/today.md instead') })
  })
})
