import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let key: string

beforeAll(async () => {
  registry = await openTestRegistry()
  for (const version of ['1.0.0', '1.1.0', '2.0.0']) {
    await registry.publish({ name: 'query-order', version, body: `How ${version} works.` })
    await registry.release('query-order', version)
  }
  await registry.publish({ name: 'query-order', version: '2.1.0' })
  await registry.publish({ name: 'send-mail', front: 'permission: [smtp]' })
  await registry.release('send-mail', '1.0.0')
  await registry.publish({ name: 'vault', front: 'permission: [vault]\nprivate: true' })
  await registry.release('vault', '1.0.0')
  key = await registry.agent('reader')
})
afterAll(() => registry.close())

describe('GET /v1/skills/{name}', () => {
  it('200: everything an agent needs, and why this version', async () => {
    const { body } = await registry.send('GET', '/v1/skills/query-order?range=^1', { key })
    expect(body.data).toMatchObject({
      name: 'query-order',
      version: '1.1.0',
      instructions: 'How 1.1.0 works.\n',
      effects: 'read',
      permission: [],
      resolution: { version: '1.1.0', via: 'stable', requested_range: '^1' },
    })
    expect(body.data.schema_digest).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(body.data.files.map((file: { path: string }) => file.path)).toEqual([
      'SKILL.md',
      'input.schema.json',
      'output.schema.json',
      'skill.js',
    ])
  })
  it('200: without a range it warns that nothing bounds it', async () => {
    const { body } = await registry.send('GET', '/v1/skills/query_order', { key })
    expect([body.data.version, body.meta.warnings.map((warning) => warning.code)]).toEqual(['2.0.0', ['unbounded_range']])
  })
  it('304: answers a reader that has it already', async () => {
    const first = await registry.send('GET', '/v1/skills/query-order?range=^1', { key })
    expect(
      (
        await registry.send('GET', '/v1/skills/query-order?range=^1', {
          key,
          headers: { 'if-none-match': first.headers.get('etag') ?? '' },
        })
      ).status,
    ).toBe(304)
  })
  it('400 INVALID_RANGE', async () => {
    for (const range of ['', 'x'.repeat(129), Array.from({ length: 9 }, (_, n) => `^${n}`).join('||'), 'banana']) {
      const reply = await registry.send('GET', `/v1/skills/query-order?range=${encodeURIComponent(range)}`, { key })
      expect([range, reply.status, reply.body.error?.code]).toEqual([range, 400, 'INVALID_RANGE'])
    }
  })
  it('403 PERMISSION_DENIED: names the missing tag and nothing else', async () => {
    const reply = await registry.send('GET', '/v1/skills/send-mail', { key })
    expect([reply.status, reply.body.error?.code]).toEqual([403, 'PERMISSION_DENIED'])
    expect(reply.body.error).toMatchObject({ message: 'send-mail needs the tag smtp; agent reader does not hold it.', next: 'ask_human' })
    expect(reply.text).not.toContain('1.0.0')
    const unsatisfied = await registry.send('GET', '/v1/skills/send-mail?range=^9', { key })
    expect([unsatisfied.status, unsatisfied.text]).not.toContain('1.0.0')
    expect(unsatisfied.body.error?.code).toBe('PERMISSION_DENIED')
  })
  it('404 SKILL_NOT_FOUND: a private skill answers like one that is not there', async () => {
    const strip = (text: string, name: string): string => text.replaceAll(name, 'NAME').replace(/"request_id":"[^"]*"/, '')
    const hidden = await registry.send('GET', '/v1/skills/vault', { key })
    const absent = await registry.send('GET', '/v1/skills/nope0', { key })
    expect([hidden.status, hidden.body.error?.code]).toEqual([404, 'SKILL_NOT_FOUND'])
    expect(strip(hidden.text, 'vault')).toBe(strip(absent.text, 'nope0'))
    for (const path of ['?range=^9', '?range=1.0.0', '/versions', '/versions/1.0.0', '/versions/1.0.0/files/SKILL.md']) {
      expect([path, (await registry.send('GET', `/v1/skills/vault${path}`, { key })).body.error?.code]).toEqual([path, 'SKILL_NOT_FOUND'])
    }
  })
  it('404 VERSION_NOT_FOUND: a candidate is not there for those who may not pin it', async () => {
    const operator = await registry.agent('op', { role: 'operator' })
    expect((await registry.send('GET', '/v1/skills/query-order?range=2.1.0', { key })).body.error?.code).toBe('VERSION_NOT_FOUND')
    const pinned = await registry.send('GET', '/v1/skills/query-order?range=2.1.0', { key: operator })
    expect([pinned.body.data.resolution.via, pinned.body.meta.warnings[0]?.code]).toEqual(['pinned', 'candidate'])
  })
  it('404 NO_MATCHING_VERSION: the hint names the cause', async () => {
    const reply = await registry.send('GET', '/v1/skills/query-order?range=^2.1', { key })
    expect([reply.status, reply.body.error?.code]).toEqual([404, 'NO_MATCHING_VERSION'])
    expect(reply.body.error?.hint).toContain('2.1.0 is a candidate that no rollout exposes')
    expect(reply.body.error?.hint).toContain('stable: 1.1.0 (line 1), 2.0.0 (line 2)')
  })
  it('410 VERSION_WITHDRAWN: a blocked version is for nobody', async () => {
    await registry.publish({ name: 'withdrawn' })
    await registry.release('withdrawn', '1.0.0')
    await registry.sql`update versions set status = 'blocked', status_reason = 'it leaked', replacement = '1.0.1', revision = (select revision + 1 from installation) where skill_id = (select id from skills where name = 'withdrawn')`
    await registry.sql`update installation set revision = revision + 1`
    await expect
      .poll(async () => (await registry.send('GET', '/v1/skills/withdrawn?range=1.0.0')).body.error?.code, { timeout: 6000 })
      .toBe('VERSION_WITHDRAWN')
    const reply = await registry.send('GET', '/v1/skills/withdrawn?range=1.0.0')
    expect([reply.status, reply.body.error?.message]).toEqual([410, 'withdrawn 1.0.0 was blocked: it leaked. Use 1.0.1 instead.'])
  })
})

describe('GET /v1/skills/{name}/versions', () => {
  it('404 VERSION_NOT_FOUND: a range is no version', async () => {
    for (const version of ['^1', 'latest', 'v1.0.0', '1']) {
      expect([version, (await registry.send('GET', `/v1/skills/query-order/versions/${version}`, { key })).body.error?.code]).toEqual([
        version,
        'VERSION_NOT_FOUND',
      ])
      expect((await registry.send('GET', `/v1/skills/vault/versions/${version}`, { key })).body.error?.code).toBe('SKILL_NOT_FOUND')
    }
    expect((await registry.send('GET', '/v1/skills/query-order/versions/1.0.0', { key })).body.data.version).toBe('1.0.0')
  })
  it('200: shows an agent what is released, newest first, and an operator the candidates too', async () => {
    const own = await registry.send('GET', '/v1/skills/query-order/versions', { key })
    expect(own.body.data.items.map((item: { version: string; stable: boolean }) => [item.version, item.stable])).toEqual([
      ['2.0.0', true],
      ['1.1.0', true],
      ['1.0.0', false],
    ])
    expect((await registry.send('GET', '/v1/skills/query-order/versions')).body.data.items).toHaveLength(4)
  })
  it('403 PERMISSION_DENIED', async () => {
    expect((await registry.send('GET', '/v1/skills/send-mail/versions', { key })).body.error?.code).toBe('PERMISSION_DENIED')
  })
  it('404 NOT_FOUND: a file that is not there', async () => {
    const reply = await registry.send('GET', '/v1/skills/query-order/versions/1.0.0/files/../../etc/passwd', { key })
    const missing = await registry.send('GET', '/v1/skills/query-order/versions/1.0.0/files/nope.md', { key })
    expect([reply.status, missing.status, missing.body.error?.code]).toEqual([404, 404, 'NOT_FOUND'])
  })
})
