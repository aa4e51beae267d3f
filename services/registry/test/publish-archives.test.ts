import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ZipFile } from 'yazl'
import { writeSkill, type Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

type Entry = { readonly path: string; readonly content: Buffer; readonly mode?: number }
const entriesOf = (name: string, body = 'Use it.'): Entry[] =>
  Object.entries(writeSkill({ name, body })).map(([path, text]) => ({ path, content: Buffer.from(text) }))

async function zip(entries: readonly Entry[]): Promise<Buffer> {
  const file = new ZipFile()
  for (const { path, content, mode } of entries) file.addBuffer(content, path, mode === undefined ? {} : { mode })
  file.end()
  return buffer(file.outputStream as never)
}
const send = (raw: Uint8Array, type: string): Promise<Reply> =>
  registry.send('POST', '/v1/skills', { raw, headers: { 'content-type': type } })
/** Renames an entry in a finished archive; both names have the same length. */
const renamed = (archive: Buffer, from: string, to: string): Buffer =>
  Buffer.from(archive.toString('latin1').replaceAll(from, to), 'latin1')

describe('POST /v1/skills with a zip', () => {
  it('201: stores the same as the JSON form would', async () => {
    const zipped = await send(await zip(entriesOf('zipped')), 'application/zip')
    const json = await registry.publish({ name: 'zipped', body: 'Use it.' })
    expect([zipped.status, json.status, json.body.data.digest]).toEqual([201, 200, zipped.body.data.digest])
  })
  it('400 INVALID_REQUEST: paths that lead out, links, twins, bombs, and what is no archive', async () => {
    const archive = await zip([...entriesOf('evil'), { path: 'xx/evil.md', content: Buffer.from('x') }])
    const bad = [
      renamed(archive, 'xx/evil.md', '../evil.md'),
      renamed(archive, 'xx/evil.md', '/x/evil.md'),
      renamed(archive, 'xx/evil.md', 'a\\\\evil.md'),
      renamed(archive, 'xx/evil.md', 'C:/evil.md'),
      await zip([...entriesOf('evil'), { path: 'link.md', content: Buffer.from('/etc/passwd'), mode: 0o120777 }]),
      renamed(await zip([...entriesOf('evil'), { path: 'SKILL.mx', content: Buffer.from('x') }]), 'SKILL.mx', 'SKILL.md'),
      await zip([...entriesOf('evil'), { path: 'bomb.txt', content: Buffer.alloc(8 * 1024 * 1024) }]),
      archive.subarray(0, archive.length - 30),
      Buffer.from('no archive'),
    ]
    for (const [index, raw] of bad.entries()) {
      const reply = await send(raw, 'application/zip')
      expect([index, reply.status, reply.body.error?.code]).toEqual([index, 400, 'INVALID_REQUEST'])
    }
    expect((await registry.send('GET', '/v1/skills/evil/versions')).status).toBe(404)
    expect(registry.bugs).toEqual([])
  })
})

describe('POST /v1/skills with a form', () => {
  const form = (entries: readonly Entry[]): Buffer =>
    Buffer.concat([
      ...entries.flatMap(({ path, content }) => [
        Buffer.from(`--b\r\ncontent-disposition: form-data; name="file"; filename="${path}"\r\n\r\n`),
        content,
        Buffer.from('\r\n'),
      ]),
      Buffer.from('--b--\r\n'),
    ])
  it('201: each part is a file, its name the path', async () => {
    const reply = await send(
      form([...entriesOf('formed'), { path: 'references/a.bin', content: Buffer.from([0, 255, 1]) }]),
      'multipart/form-data; boundary=b',
    )
    expect(reply.status).toBe(201)
    expect(
      (await registry.send('GET', '/v1/skills/formed/versions/1.0.0')).body.data.files.map((file: { path: string }) => file.path),
    ).toContain('references/a.bin')
  })
  it('400 INVALID_REQUEST: a file twice, no boundary, a form cut short; 422 INVALID_MANIFEST: a path that leads out', async () => {
    expect((await send(form([...entriesOf('twice'), ...entriesOf('twice')]), 'multipart/form-data; boundary=b')).body.error?.code).toBe(
      'INVALID_REQUEST',
    )
    expect((await send(form(entriesOf('bare')), 'multipart/form-data')).body.error?.code).toBe('INVALID_REQUEST')
    expect((await send(form(entriesOf('short')).subarray(0, 200), 'multipart/form-data; boundary=b')).body.error?.code).toBe(
      'INVALID_REQUEST',
    )
    expect(
      (await send(form([...entriesOf('out'), { path: '../x', content: Buffer.from('x') }]), 'multipart/form-data; boundary=b')).body.error
        ?.code,
    ).toBe('INVALID_MANIFEST')
    expect(registry.bugs).toEqual([])
  })
})
