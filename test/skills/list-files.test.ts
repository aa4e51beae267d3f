import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataOf, startRunner, type RunnerUnderTest } from './runner-under-test.ts'

let runner: RunnerUnderTest
let twoMounts: RunnerUnderTest
beforeAll(async () => {
  runner = await startRunner()
  twoMounts = await startRunner({ mounts: ['archive', 'reports'] })
  const workspace = join(runner.folder, 'workspace')
  await mkdir(join(workspace, 'reports', '2026', 'january', 'days'), { recursive: true })
  await mkdir(join(workspace, 'many'))
  await writeFile(join(workspace, 'b.csv'), 'a,b\n')
  await utimes(join(workspace, 'b.csv'), new Date(), new Date('2026-01-14T10:00:00Z'))
  await writeFile(join(workspace, 'reports', '2026', 'January.CSV'), 'a\n')
  await writeFile(join(workspace, 'reports', '2026', 'january', 'days', 'deep.csv'), '')
  for (let index = 0; index < 120; index += 1) await writeFile(join(workspace, 'many', `${String(index).padStart(3, '0')}.txt`), '')
  await symlink('/etc', join(workspace, 'link'))
})
afterAll(async () => {
  await runner.close()
  await twoMounts.close()
})

const list = async (args: Record<string, unknown>) => dataOf(await runner.call('list-files', args))
const pathsOf = (answer: Readonly<Record<string, unknown>>): unknown[] => (answer['entries'] as { path: string }[]).map(({ path }) => path)

describe('list-files', () => {
  it('lists the only mount when none is named, and names it', async () => {
    expect(await list({})).toEqual({
      mounts: ['workspace'],
      mount: 'workspace',
      path: '',
      count: 4,
      shown: 4,
      truncated: false,
      count_is_complete: true,
      entries: [
        { path: 'b.csv', kind: 'file', bytes: 4, modified: '2026-01-14T10:00:00.000Z' },
        { path: 'link', kind: 'link', bytes: null, modified: null },
        { path: 'many', kind: 'folder', bytes: null, modified: null },
        { path: 'reports', kind: 'folder', bytes: null, modified: null },
      ],
    })
  })

  it('answers with the mounts when there are several and none is the obvious one', async () => {
    expect(dataOf(await twoMounts.call('list-files', {}))).toMatchObject({ mount: null, mounts: ['archive', 'reports'], entries: [] })
    expect(dataOf(await twoMounts.call('list-files', { mount: 'archive' }))).toEqual({
      mount: 'archive',
      path: '',
      count: 0,
      shown: 0,
      truncated: false,
      count_is_complete: true,
      entries: [],
    })
  })

  it('goes as deep as it is asked to, and does not follow links', async () => {
    expect(pathsOf(await list({ path: 'reports', depth: 1 }))).toEqual(['reports/2026'])
    expect(pathsOf(await list({ path: './reports/', depth: 2 }))).toEqual([
      'reports/2026',
      'reports/2026/January.CSV',
      'reports/2026/january',
    ])
    expect(pathsOf(await list({ path: 'reports', depth: 4 }))).toContain('reports/2026/january/days/deep.csv')
    expect(pathsOf(await list({ depth: 4, limit: 500 })).filter((path) => String(path).startsWith('link/'))).toEqual([])
  })

  it('counts everything and shows as many as it is asked to', async () => {
    expect(await list({ path: 'many' })).toMatchObject({ count: 120, shown: 100, truncated: true, count_is_complete: true })
    const few = await list({ path: 'many', limit: 2 })
    expect(few).toMatchObject({ count: 120, shown: 2, truncated: true })
    expect(pathsOf(few)).toEqual(['many/000.txt', 'many/001.txt'])
    expect(await list({ path: 'many', limit: 120 })).toMatchObject({ count: 120, shown: 120, truncated: false })
  })

  it('holds a pattern against names, and one with a slash against the path below', async () => {
    expect(pathsOf(await list({ pattern: '*.csv', depth: 4 }))).toEqual(['b.csv', 'reports/2026/January.CSV'])
    expect(pathsOf(await list({ path: 'reports', pattern: '2026/*.csv', depth: 4 }))).toEqual(['reports/2026/January.CSV'])
    expect(pathsOf(await list({ path: 'many', pattern: '*1*9*' }))).toEqual(['many/019.txt', 'many/109.txt', 'many/119.txt'])
    expect(await list({ path: 'many', pattern: `${'*a'.repeat(90)}*` })).toMatchObject({ count: 0, truncated: false })
  })

  it.each([
    [{ path: '../' }, 'PATH_OUTSIDE'],
    [{ path: 'link' }, 'PATH_OUTSIDE'],
    [{ path: 'reports/../../..' }, 'PATH_OUTSIDE'],
    [{ path: '/etc' }, 'PATH_NOT_RELATIVE'],
    [{ path: 'absent' }, 'FILE_NOT_FOUND'],
    [{ path: 'b.csv' }, 'NOT_A_FOLDER'],
    [{ mount: 'archive' }, 'MOUNT_NOT_OPEN'],
  ])('refuses %j with %s', async (args, code) => {
    expect(await runner.call('list-files', args)).toMatchObject({ kind: 'refusal', code })
  })
})
