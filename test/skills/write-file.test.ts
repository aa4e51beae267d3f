import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let runner: RunnerUnderTest
let workspace: string
beforeAll(async () => {
  runner = await startRunner({ mounts: ['workspace', 'reports'] })
  workspace = join(runner.folder, 'workspace')
  await mkdir(join(workspace, 'folder'))
  await mkdir(join(runner.folder, 'outside'))
  await symlink('../outside', join(workspace, 'escape'))
})
afterAll(() => runner.close())

const write = (args: Record<string, unknown>) => runner.call('write-file', args)

describe('write-file', () => {
  it('makes a file and the folders above it, and says that it is new', async () => {
    expect(dataOf(await write({ path: 'notes/today.md', content: 'Grüße\n' }))).toEqual({
      mount: 'workspace',
      path: 'notes/today.md',
      bytes: 8,
      created: true,
    })
    expect(await readFile(join(workspace, 'notes', 'today.md'), 'utf8')).toBe('Grüße\n')
  })

  it('replaces the whole of a file, keeps its mode, and leaves nothing else behind', async () => {
    await writeFile(join(workspace, 'old.txt'), 'a long text that was there before', { mode: 0o600 })
    expect(dataOf(await write({ path: 'old.txt', content: 'new' }))).toMatchObject({ bytes: 3, created: false })
    expect(await readFile(join(workspace, 'old.txt'), 'utf8')).toBe('new')
    expect((await lstat(join(workspace, 'old.txt'))).mode & 0o777).toBe(0o600)
    expect((await readdir(workspace)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('shows a reader the old content or the new one, and never a part', async () => {
    const path = join(workspace, 'swapped.txt')
    const contents = ['a', 'b'].map((letter) => letter.repeat(200_000))
    await write({ path: 'swapped.txt', content: contents[0] })
    let isDone = false
    const seen = new Set<string>()
    const reader = (async () => {
      while (!isDone) seen.add(await readFile(path, 'utf8'))
    })()
    for (const content of [contents[1], contents[0], contents[1]]) await write({ path: 'swapped.txt', content })
    isDone = true
    await reader
    expect([...seen].filter((text) => !contents.includes(text))).toEqual([])
    expect(seen.size).toBe(2)
  })

  it('is the same when it is done twice, and writes an empty file too', async () => {
    const args = { mount: 'reports', path: 'weekly.csv', content: '' }
    expect(dataOf(await write(args))).toMatchObject({ mount: 'reports', bytes: 0, created: true })
    expect(dataOf(await write(args))).toMatchObject({ bytes: 0, created: false })
  })

  it.each([
    [{ path: '../outside/a.txt', content: 'x' }, 'PATH_OUTSIDE'],
    [{ path: 'escape/a.txt', content: 'x' }, 'PATH_OUTSIDE'],
    [{ path: 'escape/new/a.txt', content: 'x' }, 'PATH_OUTSIDE'],
    [{ path: '/tmp/a.txt', content: 'x' }, 'PATH_NOT_RELATIVE'],
    [{ path: 'folder', content: 'x' }, 'NOT_A_FILE'],
    [{ path: 'new/', content: 'x' }, 'NOT_A_FILE'],
    [{ path: 'a.txt', content: 'x', mount: 'elsewhere' }, 'MOUNT_NOT_OPEN'],
    [{ path: 'a.txt', content: 'half \uD800 a pair' }, 'CONTENT_NOT_TEXT'],
  ])('refuses %j with %s', async (args, code) => {
    expect(await write(args)).toMatchObject({ kind: 'refusal', code })
    expect(await readdir(join(runner.folder, 'outside'))).toEqual([])
  })
})
