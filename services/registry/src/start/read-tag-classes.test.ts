import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTagClasses } from './read-tag-classes.ts'

let folder: string
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'repertoire-classes-'))))
afterAll(() => rm(folder, { recursive: true, force: true }))

const read = async (text: string): Promise<unknown> => {
  const file = join(folder, 'classes.json')
  await writeFile(file, text)
  return readTagClasses(file).catch((error: Error) => error.message.replace(file, 'FILE'))
}

describe('the classes of tags', () => {
  it('are those built in where no file is named, and where a file leaves one out', async () => {
    const builtIn = await readTagClasses(undefined)
    expect([
      builtIn.private_data.includes('fs:read'),
      builtIn.untrusted_content.includes('network'),
      builtIn.way_out.includes('smtp'),
    ]).toEqual([true, true, true])
    expect(await read('{"private_data": ["orders:read", "fs:read:*"], "way_out": []}')).toEqual({
      private_data: ['orders:read', 'fs:read:*'],
      untrusted_content: builtIn.untrusted_content,
      way_out: [],
    })
  })
  it.each([
    ['{', 'REPERTOIRE_TAG_CLASSES_FILE=FILE is not JSON.'],
    ['{"private": []}', expect.stringMatching(/^REPERTOIRE_TAG_CLASSES_FILE=FILE is not right: : .*private/)],
    ['{"way_out": ["smtp:*:x"]}', expect.stringMatching(/is not right: way_out\.0: a pattern is a tag/)],
  ])('are refused in one sentence that names the setting: %s', async (text, said) => {
    expect(await read(text)).toEqual(said)
  })
  it('are refused where there is no such file', async () => {
    await expect(readTagClasses(join(folder, 'absent.json'))).rejects.toThrow(/cannot be read: ENOENT/)
  })
})
