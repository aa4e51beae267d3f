import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeSkill } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

const withOrder = (...properties: string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(properties.map((name) => [name, { type: 'string' }])),
})

describe('POST /v1/skills', () => {
  it('200: answers the same bytes again without a change', async () => {
    const first = await registry.publish({ name: 'same-bytes' })
    const again = await registry.publish({ name: 'same-bytes' })
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body.data).toMatchObject({ created: false, digest: first.body.data.digest, status: 'candidate' })
    expect(again.body.meta.revision).toBe(first.body.meta.revision)
  })
  it('200: a dry run says what would happen and keeps nothing', async () => {
    const dry = await registry.publish({ name: 'only-tried' }, '?dry_run=true')
    expect([dry.status, dry.body.data.created]).toEqual([200, true])
    expect((await registry.send('GET', '/v1/skills/only-tried/versions')).status).toBe(404)
  })
  it('201: stores every file byte for byte, CRLF and byte order mark included', async () => {
    const skill = `\uFEFF---\r\nname: verbatim\r\nversion: 1.0.0\r\ndescription: Kept as it is.\r\npermission: []\r\n---\r\nBody\r\n`
    const published = await registry.send('POST', '/v1/skills', {
      body: { files: { 'SKILL.md': { base64: Buffer.from(skill).toString('base64') }, 'references/a.bin': { base64: 'AAEC/w==' } } },
    })
    expect(published.status).toBe(201)
    expect((await registry.send('GET', '/v1/skills/verbatim/versions/1.0.0/files/SKILL.md')).text).toBe(skill.slice(1))
    const file = await registry.send('GET', '/v1/skills/verbatim/versions/1.0.0/files/references/a.bin')
    expect(file.headers.get('content-type')).toBe('application/octet-stream')
    const row =
      await registry.sql`select content from blobs b join version_files f using (digest) join versions v on v.id = f.version_id join skills s on s.id = v.skill_id where s.name = 'verbatim' and f.path = 'SKILL.md'`
    expect(Buffer.compare(row[0]?.['content'], Buffer.from(skill))).toBe(0)
  })
  it('201: changes nothing that anybody resolves', async () => {
    await registry.publish({ name: 'steady' })
    await registry.release('steady', '1.0.0')
    await registry.publish({ name: 'steady', version: '1.1.0' })
    const resolved = await registry.send('POST', '/v1/resolve', { body: { requires: { steady: '^1' } } })
    expect(resolved.body.data.resolved.steady).toMatchObject({ version: '1.0.0', via: 'stable' })
  })
  it('201: warns of a probe that could not be asked today, and tells of no skill that its publisher may not know', async () => {
    const publisher = await registry.agent('prober', { role: 'publisher', team: 'probers' })
    await registry.publish({ name: 'look-hidden', front: 'permission: [vault]\nprivate: true\neffects: read' })
    await registry.publish({ name: 'look-unreleased' })
    await registry.publish({ name: 'look-doing', front: 'permission: []\neffects: idempotent' })
    await registry.publish({ name: 'look-good' })
    for (const name of ['look-hidden', 'look-doing', 'look-good']) await registry.release(name, '1.0.0')
    const warned = async (probe: string): Promise<string[]> => {
      const front = `permission: []\neffects: once\nprobe: ${probe}`
      const published = await registry.send('POST', '/v1/skills?dry_run=true', {
        key: publisher,
        body: { files: writeSkill({ name: `send-${probe}`, front }) },
      })
      expect(published.status).toBe(200)
      const findings: { readonly message: string }[] = published.body.data.report.findings
      return findings.map(({ message }) => message).filter((message) => message.includes('look-'))
    }
    expect(await warned('look-good')).toEqual([])
    for (const name of ['look-hidden', 'look-unreleased', 'look-absent'])
      expect(await warned(name)).toEqual([`there is no released skill ${name} yet; until there is, lost calls wait for an operator`])
    expect(await warned('look-doing')).toEqual(['the probe look-doing 1.0.0 has effects: idempotent; a probe only reads'])
    const described = await registry.publish({ name: 'send-described', front: 'permission: []\neffects: once\nprobe: look-good' })
    const { data } = (await registry.send('GET', '/v1/skills/send-described/versions/1.0.0')).body
    expect([described.status, data.probe]).toEqual([201, 'look-good'])
  })
  it('201: fifty at once make one version and no fault', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => registry.publish({ name: 'crowded' })))
    const statuses = replies.map((reply) => reply.status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status !== 201 && status !== 200)).toEqual([])
    expect(registry.bugs).toEqual([])
  })
  it('201: takes `query_order` and `query-order` for one skill', async () => {
    await registry.publish({ name: 'two-spellings' })
    const other = await registry.publish({ name: 'two_spellings', version: '1.1.0' })
    expect(other.status).toBe(201)
    expect((await registry.send('GET', '/v1/skills/two_spellings/versions')).body.data.items).toHaveLength(2)
  })
  it('403 ROLE_REQUIRED: an agent publishes nothing', async () => {
    const key = await registry.agent('no-publisher')
    const reply = await registry.send('POST', '/v1/skills', { key, body: { files: writeSkill({ name: 'not-mine' }) } })
    expect([reply.status, reply.body.error?.code]).toEqual([403, 'ROLE_REQUIRED'])
  })
  it('403 ROLE_REQUIRED: a publisher publishes under the names of its own team alone', async () => {
    const alpha = await registry.agent('alpha-author', { role: 'publisher', team: 'alpha' })
    const beta = await registry.agent('beta-author', { role: 'publisher', team: 'beta' })
    const publish = (key: string, version: string): ReturnType<TestRegistry['send']> =>
      registry.send('POST', '/v1/skills', { key, body: { files: writeSkill({ name: 'alpha-secret', version }) } })
    const replies = [
      await publish(alpha, '1.0.0'),
      await publish(beta, '1.0.0'),
      await publish(beta, '1.1.0'),
      await publish(alpha, '1.1.0'),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([201, 403, 403, 201])
    expect(replies[1]?.text).not.toContain(replies[0]?.body.data.digest)
  })
  it('409 VERSION_EXISTS: other bytes under a published number are refused and change nothing', async () => {
    await registry.publish({ name: 'taken' })
    const other = await registry.publish({ name: 'taken', body: 'Other words.' })
    expect([other.status, other.body.error?.code, other.body.error?.next]).toEqual([409, 'VERSION_EXISTS', 'fix_input'])
    expect((await registry.send('GET', '/v1/skills/taken/versions/1.0.0')).body.data.instructions).toBe('Use it well.\n')
  })
  it('409 NAME_TOO_SIMILAR: a look-alike name is refused unless an admin insists', async () => {
    await registry.publish({ name: 'load-order' })
    const twin = await registry.publish({ name: 'l0ad-order' })
    expect([twin.status, twin.body.error?.code]).toEqual([409, 'NAME_TOO_SIMILAR'])
    expect((await registry.publish({ name: 'l0ad-order' }, '?allow_similar_name=true')).status).toBe(201)
  })
  it('415 UNSUPPORTED_MEDIA_TYPE: a body of another type', async () => {
    const reply = await registry.send('POST', '/v1/skills', { raw: 'hello', headers: { 'content-type': 'text/plain' } })
    expect([reply.status, reply.body.error?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })
  it('422 INVALID_MANIFEST: every problem at once, each with file, line and fix, and nothing stored', async () => {
    const files = {
      ...writeSkill({ name: 'broken', version: '1.10', front: 'effects: sometimes\nexamples:\n  - say: hello\n    params: {count: many}' }),
      'input.schema.json': '{"type": "object",\n "properties": {"count": {"type": "integr"}}}',
    }
    const reply = await registry.send('POST', '/v1/skills', { body: { files } })
    expect([reply.status, reply.body.error?.code]).toEqual([422, 'INVALID_MANIFEST'])
    const told = reply.body.error?.details ?? []
    expect(told).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ file: 'SKILL.md', line: 3, message: expect.stringContaining('1.10'), fix: 'write "1.10.0"' }),
        expect.objectContaining({ file: 'SKILL.md', line: 5, message: expect.stringContaining('effects') }),
        expect.objectContaining({
          file: 'SKILL.md',
          message: expect.stringContaining('permission'),
          fix: expect.stringContaining('permission: []'),
        }),
        expect.objectContaining({ file: 'input.schema.json', line: 2, message: expect.stringContaining('not a valid JSON Schema') }),
      ]),
    )
    expect((await registry.send('GET', '/v1/skills/broken/versions')).status).toBe(404)
  })
  it('422 INCOMPATIBLE_SCHEMA: a patch changes no schema', async () => {
    await registry.publish({ name: 'patched', input: withOrder('a') })
    const reply = await registry.publish({ name: 'patched', version: '1.0.1', input: withOrder('a', 'b') })
    expect([reply.status, reply.body.error?.code]).toEqual([422, 'INCOMPATIBLE_SCHEMA'])
    expect((await registry.publish({ name: 'patched', version: '1.1.0', input: withOrder('a', 'b') })).status).toBe(201)
  })
  it('422 INCOMPATIBLE_SCHEMA: a property that disappears needs a major', async () => {
    await registry.publish({ name: 'renamed', output: withOrder('amount') })
    const minor = await registry.publish({ name: 'renamed', version: '1.1.0', output: withOrder('total_amount') })
    expect(minor.body.error?.details[0]).toMatchObject({
      file: 'output.schema.json',
      message: expect.stringContaining('amount'),
      fix: expect.stringContaining('major'),
    })
    expect((await registry.publish({ name: 'renamed', version: '2.0.0', output: withOrder('total_amount') })).status).toBe(201)
  })
})
