import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let key: string
const names = (reply: { body: { data: { items: { name: string }[] } } }): string[] => reply.body.data.items.map((item) => item.name)

beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'open-one' })
  await registry.release('open-one', '1.0.0')
  await registry.publish({ name: 'mail-one', front: 'permission: [smtp]\neffects: once\ndomain: support' })
  await registry.release('mail-one', '1.0.0')
  await registry.publish({ name: 'hidden-one', front: 'permission: [secret-area]\nprivate: true' })
  await registry.release('hidden-one', '1.0.0')
  await registry.publish({ name: 'unreleased-one' })
  key = await registry.agent('reader')
})
afterAll(() => registry.close())

describe('GET /v1/skills', () => {
  it('200: shows an agent what it may call and nothing else', async () => {
    const reply = await registry.send('GET', '/v1/skills', { key })
    expect(names(reply)).toEqual(['open-one'])
    expect(reply.body.data.items[0]).toMatchObject({ version: '1.0.0', via: 'stable', status: 'released', kind: 'code' })
    expect(reply.text).not.toMatch(/mail-one|hidden-one|unreleased-one/)
  })
  it('200: shows an operator every skill, also what is not released', async () => {
    const operator = await registry.agent('shift', { role: 'operator' })
    const reply = await registry.send('GET', '/v1/skills', { key: operator })
    expect(names(reply)).toEqual(['open-one', 'mail-one', 'hidden-one', 'unreleased-one'])
    expect(reply.body.data.items[3]).toMatchObject({ status: 'candidate', via: null })
  })
  it('200: shows more as soon as a tag is granted, and less when the grant is gone', async () => {
    const mailer = await registry.agent('mailer')
    const before = await registry.send('GET', '/v1/skills', { key: mailer })
    const grant = await registry.send('POST', '/v1/agents/mailer/grants', { body: { pattern: 'smtp', reason: 'it writes to customers' } })
    const during = await registry.send('GET', '/v1/skills', { key: mailer })
    await registry.send('DELETE', `/v1/agents/mailer/grants/${grant.body.data.id}`)
    const after = await registry.send('GET', '/v1/skills', { key: mailer, headers: { 'if-none-match': during.headers.get('etag') ?? '' } })
    expect([names(before), names(during), names(after), after.status]).toEqual([['open-one'], ['open-one', 'mail-one'], ['open-one'], 200])
  })
  it('200: a grant ends at its time, without a new revision', async () => {
    const brief = await registry.agent('brief')
    await registry.send('POST', '/v1/agents/brief/grants', {
      body: { pattern: 'smtp', reason: 'for an hour', expires_at: new Date(Date.now() + 3_600_000).toISOString() },
    })
    const during = await registry.send('GET', '/v1/skills', { key: brief })
    registry.advance(3_600_001)
    const after = await registry.send('GET', '/v1/skills', { key: brief, headers: { 'if-none-match': during.headers.get('etag') ?? '' } })
    registry.advance(-3_600_001)
    expect([names(during), names(after), after.status]).toEqual([['open-one', 'mail-one'], ['open-one'], 200])
  })
  it('200: full shows schemas, names shows little', async () => {
    const full = await registry.send('GET', '/v1/skills?view=full', { key })
    const short = await registry.send('GET', '/v1/skills?view=names', { key })
    expect(full.body.data.items[0]).toMatchObject({ input_schema: { type: 'object' }, output_schema: { type: 'object' } })
    expect(Object.keys(short.body.data.items[0])).toEqual(['name', 'version', 'via', 'status', 'description', 'kind'])
  })
  it('200: pages without a gap or a repeat', async () => {
    const first = await registry.send('GET', '/v1/skills?limit=3')
    const second = await registry.send('GET', `/v1/skills?limit=3&cursor=${first.body.data.next_cursor}`)
    expect([...names(first), ...names(second)]).toEqual(['open-one', 'mail-one', 'hidden-one', 'unreleased-one'])
    expect(second.body.data.next_cursor).toBeNull()
  })
  it('200: the header narrows to a range, and a skill without a match is left out', async () => {
    const fits = await registry.send('GET', '/v1/skills', { key, headers: { 'repertoire-requires': 'open_one@^1' } })
    const none = await registry.send('GET', '/v1/skills', { key, headers: { 'repertoire-requires': 'open-one@^2' } })
    expect([names(fits), names(none)]).toEqual([['open-one'], []])
  })
  it('200: a domain narrows the offer, and a star looks beyond it', async () => {
    await registry.agent('deskless', { grants: ['smtp'] })
    await registry.send('PATCH', '/v1/agents/deskless', { body: { domains: ['data'] } })
    const own = (await registry.send('POST', '/v1/agents/deskless/keys', { body: {} })).body.data.key
    expect(names(await registry.send('GET', '/v1/skills', { key: own }))).toEqual(['open-one'])
    expect(names(await registry.send('GET', '/v1/skills?domain=support', { key: own }))).toEqual(['mail-one'])
    expect(names(await registry.send('GET', '/v1/skills?domain=*', { key: own }))).toEqual(['open-one', 'mail-one'])
  })
  it('304: answers a reader that has it already, until something it sees changes', async () => {
    const first = await registry.send('GET', '/v1/skills', { key })
    const etag = first.headers.get('etag') ?? ''
    const same = await registry.send('GET', '/v1/skills', { key, headers: { 'if-none-match': etag } })
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', etag])
    await registry.publish({ name: 'open-one', version: '1.1.0' })
    await registry.release('open-one', '1.1.0')
    const changed = await registry.send('GET', '/v1/skills', { key, headers: { 'if-none-match': etag } })
    expect([changed.status, changed.body.data.items[0].version]).toEqual([200, '1.1.0'])
  })
  it('304: the ETag of an agent that sees more is of no use to one that sees less', async () => {
    const operator = await registry.agent('night-shift', { role: 'operator' })
    const etag = (await registry.send('GET', '/v1/skills', { key: operator })).headers.get('etag') ?? ''
    expect((await registry.send('GET', '/v1/skills', { key, headers: { 'if-none-match': etag } })).status).toBe(200)
  })
  it.each([
    ['an unknown parameter', '?colour=red'],
    ['a limit beyond 200', '?limit=201'],
    ['a cursor of somebody else', '?cursor=bm90IG91cnM'],
    ['a parameter given twice', '?limit=1&limit=2'],
  ])('400 INVALID_REQUEST: %s', async (_, query) => {
    const reply = await registry.send('GET', `/v1/skills${query}`, { key })
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'INVALID_REQUEST'])
  })
  it('400 INVALID_REQUEST: two ranges for one skill, so that none quietly wins', async () => {
    for (const requires of ['open-one@^1, open-one@^2', 'open-one@^1, open_one@^2']) {
      expect((await registry.send('GET', '/v1/skills', { key, headers: { 'repertoire-requires': requires } })).body.error?.code).toBe(
        'INVALID_REQUEST',
      )
    }
    expect(
      (await registry.send('PUT', '/v1/agents/self/requirements', { key, body: { requires: { 'open-one': '^1', open_one: '^2' } } })).body
        .error?.code,
    ).toBe('INVALID_REQUEST')
  })
  it('400 INVALID_RANGE: a header with a range that is none', async () => {
    const reply = await registry.send('GET', '/v1/skills', { key, headers: { 'repertoire-requires': 'open-one@one-ish' } })
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'INVALID_RANGE'])
  })
  it('notes what was shown, once a revision', async () => {
    const watched = await registry.agent('watched')
    await registry.send('GET', '/v1/skills', { key: watched })
    await registry.send('GET', '/v1/skills', { key: watched })
    await expect
      .poll(
        async () =>
          (await registry.sql`select kind, items from shown_events where agent_id = 'watched'`).map((row) => [row['kind'], row['items']]),
        { timeout: 5000 },
      )
      .toEqual([['list', 'open-one@1.1.0']])
  })
})
