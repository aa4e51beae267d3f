import { Repertoire, RepertoireError } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'

type Sent = { readonly url: string; readonly method: string; readonly headers: Record<string, string>; readonly body: unknown }

/** A client whose requests are kept, and answered by turns. */
function clientWith(...answers: (Response | Error)[]): { readonly client: Repertoire; readonly sent: Sent[] } {
  const sent: Sent[] = []
  const send = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({
      url: String(url),
      method: init.method ?? 'GET',
      headers: init.headers as Record<string, string>,
      body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
    })
    const answer = answers.shift() ?? new Response('{}', { status: 500 })
    if (answer instanceof Error) throw answer
    return answer
  }
  const client = new Repertoire({
    url: 'http://registry/',
    key: 'rep_agent_x',
    requires: { 'query-order': '^1', 'send-mail': '~2.0' },
    session: 's',
    instance: 'blue',
    fetch: send as typeof fetch,
  })
  return { client, sent }
}

const meta = { request_id: 'r', revision: 1, warnings: [] }
const good = (data: unknown, headers: Record<string, string> = {}): Response =>
  Response.json({ ok: true, data, error: null, meta }, { headers })
const bad = (status: number, code: string, more: object = {}): Response =>
  Response.json(
    {
      ok: false,
      data: null,
      error: { code, origin: 'registry', effect: 'none', next: 'retry', message: 'No.', details: [], ...more },
      meta,
    },
    { status },
  )
const unreachable = (): Error => new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') })
const errorOf = (work: Promise<unknown>): Promise<RepertoireError> =>
  work.then(
    () => Promise.reject(new Error('it resolved')),
    (error: unknown) => (error instanceof RepertoireError ? error : Promise.reject(error)),
  )

describe('the client', () => {
  it('says who it is and what it works with in every request', async () => {
    const { client, sent } = clientWith(good({ items: [], next_cursor: null }))
    await client.list({ view: 'full' })
    expect(sent[0]).toMatchObject({
      url: 'http://registry/v1/skills?view=full&limit=200',
      method: 'GET',
      headers: {
        authorization: 'Bearer rep_agent_x',
        'repertoire-requires': 'query-order@^1, send-mail@~2.0',
        'repertoire-session': 's',
        'repertoire-instance': 'blue',
      },
    })
  })
  it('lists all pages', async () => {
    const { client, sent } = clientWith(
      good({ items: [{ name: 'a' }], next_cursor: 'c' }),
      good({ items: [{ name: 'b' }], next_cursor: null }),
    )
    expect((await client.list()).map((item) => item.name)).toEqual(['a', 'b'])
    expect(sent[1]?.url).toContain('cursor=c')
  })
  it('remembers what has an ETag, and takes a 304 for it', async () => {
    const { client, sent } = clientWith(good({ name: 'a' }, { etag: '"1"' }), new Response(null, { status: 304 }))
    expect([await client.describe('a'), await client.describe('a')]).toEqual([{ name: 'a' }, { name: 'a' }])
    expect(sent[1]?.headers['if-none-match']).toBe('"1"')
  })
  it('hands the ETag on with the data, so that a command can say what it was decided upon', async () => {
    const { client } = clientWith(good({ id: 'r' }, { etag: '"7.x"' }), new Response(null, { status: 304 }), good({ id: 'r' }))
    const ask = (): Promise<string | null> => client.transport.send('GET', '/v1/rollouts/r').then(({ etag }) => etag)
    expect([await ask(), await ask()]).toEqual(['"7.x"', '"7.x"'])
    expect((await client.transport.send('POST', '/v1/rollouts/r/pause')).etag).toBeNull()
  })
  it('asks again for reads alone, when no answer came or the registry was busy', async () => {
    const reading = clientWith(unreachable(), bad(503, 'BUSY'), good({ name: 'a' }))
    expect([await reading.client.describe('a'), reading.sent.length]).toEqual([{ name: 'a' }, 3])
    const calling = clientWith(unreachable(), good(1))
    expect([(await errorOf(calling.client.call('a'))).code, calling.sent.length]).toEqual(['UNREACHABLE', 1])
    const busy = clientWith(bad(503, 'BUSY'), good(1))
    expect([(await errorOf(busy.client.call('a'))).code, busy.sent.length]).toEqual(['BUSY', 1])
  })
  it('sends a call with what was given and nothing else', async () => {
    const { client, sent } = clientWith(good({ n: 1 }))
    const { data, meta: about } = await client.call(
      'query-order',
      { order_id: '1' },
      { range: '^1', timeoutMs: 50, intent: 'why', idempotencyKey: 'k', session: 'other' },
    )
    expect([data, about.revision]).toEqual([{ n: 1 }, 1])
    expect(sent[0]).toMatchObject({
      url: 'http://registry/v1/skills/query-order/calls',
      method: 'POST',
      headers: { 'idempotency-key': 'k' },
    })
    expect(sent[0]?.body).toEqual({ arguments: { order_id: '1' }, range: '^1', timeout_ms: 50, intent: 'why', session: 'other' })
  })
  it('asks for a user where one is named: for all requests, or for one call in place of that', async () => {
    const sent: Headers[] = []
    const send = async (_: unknown, init: RequestInit = {}): Promise<Response> => {
      sent.push(new Headers(init.headers))
      return good({ items: [], next_cursor: null })
    }
    const client = new Repertoire({ url: 'http://registry', key: 'k', onBehalfOf: 'ada.s.token', fetch: send as typeof fetch })
    await client.list()
    await client.call('a')
    await client.call('a', {}, { onBehalfOf: 'bob.s.token' })
    await new Repertoire({ url: 'http://registry', key: 'k', fetch: send as typeof fetch }).call('a')
    expect(sent.map((headers) => headers.get('repertoire-on-behalf-of'))).toEqual(['ada.s.token', 'ada.s.token', 'bob.s.token', null])
  })
  it("throws a no with all it says; the skill's own with its origin", async () => {
    const refused = await errorOf(clientWith(bad(403, 'PERMISSION_DENIED', { next: 'ask_human', hint: 'ask' })).client.call('a'))
    expect(refused).toMatchObject({
      code: 'PERMISSION_DENIED',
      status: 403,
      origin: 'registry',
      next: 'ask_human',
      hint: 'ask',
      meta: { revision: 1 },
    })
    const own = await errorOf(clientWith(bad(200, 'ORDER_NOT_FOUND', { origin: 'skill' })).client.call('a'))
    expect(own).toMatchObject({ code: 'ORDER_NOT_FOUND', status: 200, origin: 'skill' })
  })
  it('says so when what answers is no registry, and when a request cannot be sent at all', async () => {
    expect((await errorOf(clientWith(new Response('<html>', { status: 200 })).client.self())).code).toBe('NOT_A_REGISTRY')
    expect((await errorOf(clientWith(new TypeError('Cannot convert argument to a ByteString')).client.call('a'))).code).toBe('UNSENDABLE')
    expect((await errorOf(clientWith().client.describe('..'))).code).toBe('SKILL_NOT_FOUND')
  })
  it('never sends what cannot be sent, and says why', async () => {
    const { client, sent } = clientWith()
    expect((await errorOf(client.call('a', { n: 1n }))).message).toContain('cannot be written as JSON')
    expect((await errorOf(client.call('a', {}, { timeoutMs: Number.NaN }))).code).toBe('UNSENDABLE')
    expect(() => new Repertoire({ url: 'foo' })).toThrow('is not the address of a registry')
    expect(sent).toEqual([])
  })
  it('stops when its caller does', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(clientWith(new Error('aborted')).client.call('a', {}, { signal: stop.signal })).rejects.toThrow('aborted')
  })
})
