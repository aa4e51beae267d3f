import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
const call = (body: object = {}): Promise<Reply> => registry.send('POST', '/v1/skills/tell-much/calls', { key, body })
const answer = (json: string): void => registry.execute(() => ({ kind: 'result', json: Buffer.from(json) }))
const get = (path: string, as = key): Promise<Reply> => registry.send('GET', path, { key: as })
/** Follows the pieces of a result to its end. */
const whole = async (first: string): Promise<{ readonly text: string; readonly pieces: number }> => {
  let text = ''
  let pieces = 0
  for (let next: string | null = first; next !== null; pieces += 1) {
    const page: Reply = await get(next)
    text += page.body.data.text
    next = page.body.data.next
  }
  return { text, pieces }
}
const nextOf = (reply: Reply): string => (reply.body.meta.truncated as { readonly next: string }).next

beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'tell-much', output: null, front: 'permission: []\neffects: read\ntimeout_ms: 60000' })
  await registry.release('tell-much', '1.0.0')
  key = await registry.agent('reader')
})
afterAll(() => registry.close())

describe('a result that is longer than it may be', () => {
  it('comes back in pieces that are exactly what it was: emoji at every cut, base64, 31 MB', async () => {
    // One character more each time moves every cut to another byte of the emoji.
    for (const shift of ['', 'a', 'aa', 'aaa']) {
      const json = JSON.stringify({ text: `${shift}${'😀'.repeat(40_000)}` })
      answer(json)
      const reply = await call({ max_result_bytes: 1024 })
      expect([reply.body.data, await whole(nextOf(reply))]).toEqual([null, { text: json, pieces: 3 }])
    }
    const large = JSON.stringify({ bytes: Buffer.alloc(23 * 1024 * 1024, 'x').toString('base64') })
    answer(large)
    const reply = await call()
    const back = await whole(nextOf(reply))
    expect([back.text === large, back.pieces > 400]).toEqual([true, true])
  })
  it('is previewed: head, tail, how long an array is and its first items', async () => {
    answer(JSON.stringify(Array.from({ length: 5000 }, (_, index) => ({ index }))))
    const { truncated } = (await call({ max_result_bytes: 4096 })).body.meta as {
      truncated: { bytes: number; preview: Record<string, unknown> }
    }
    expect(truncated.preview).toMatchObject({
      head: expect.stringMatching(/^\[\{"index":0\}/),
      tail: expect.stringMatching(/"index":4999\}\]$/),
      length: 5000,
    })
    expect((truncated.preview['items'] as unknown[])[0]).toEqual({ index: 0 })
  })
  it('is read by items and by lines as well', async () => {
    const items = Array.from({ length: 30_000 }, (_, index) => ({ index, text: 'a "quoted", [bracketed] \\ one' }))
    answer(JSON.stringify(items))
    const id = (await call({ max_result_bytes: 1024 })).body.meta.call_id
    const some = await get(`/v1/calls/${id}/result?items=19998-20001`)
    expect(some.body.data.items).toEqual(items.slice(19_998, 20_002))
    expect((await get(`/v1/calls/${id}/result?items=29999-40000`)).body.data.items).toEqual([items.at(-1)])
    expect((await get(`/v1/calls/${id}/result?items=0-29999`)).body.error?.code).toBe('TOO_LARGE')
    const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index} of ‘curly’ 😀\t"text"`)
    answer(JSON.stringify(lines.join('\n')))
    const text = (await call({ max_result_bytes: 1024 })).body.meta.call_id
    expect((await get(`/v1/calls/${text}/result?lines=15000-15002`)).body.data.lines).toEqual(lines.slice(15_000, 15_003))
    expect((await get(`/v1/calls/${text}/result?lines=19999-20005`)).body.data.lines).toEqual([lines.at(-1)])
    expect((await get(`/v1/calls/${text}/result?items=0-1`)).body.error?.code).toBe('INVALID_REQUEST')
    for (const query of ['items=1', 'items=0-1&lines=0-1', 'lines=a-b', 'cursor=zzz'])
      expect([query, (await get(`/v1/calls/${text}/result?${query}`)).body.error?.code]).toEqual([query, 'INVALID_REQUEST'])
  })
  it('gives no number as another one: beyond 2^53 items come as they are, and a preview ends before them', async () => {
    const large = '{"id":9007199254740993}'
    answer(`[{"id":1},{"id":2},${large},${Array.from({ length: 200 }, (_, index) => `{"id":${index}}`).join(',')}]`)
    const cut = await call({ max_result_bytes: 1024 })
    const { truncated } = cut.body.meta as { truncated: { preview: { items: unknown[]; head: string } } }
    expect([truncated.preview.items, truncated.preview.head.includes(large)]).toEqual([[{ id: 1 }, { id: 2 }], true])
    const part = await get(`/v1/calls/${cut.body.meta.call_id}/result?items=1-3`)
    expect(part.text).toContain(`"items":[{"id":2},${large},{"id":0}]`)
    expect([part.body.data.text, part.body.data.lines, part.body.data.next]).toEqual([null, null, null])
  })
  it('stands in the log as its text where a number in it would be rounded, wherever it is read', async () => {
    const large = '{"id":9007199254740993,"rate":1e2}'
    answer(large)
    const id = String((await call()).body.meta.call_id)
    const exported = await registry.send('GET', '/v1/calls/export?format=ndjson')
    expect([
      (await get(`/v1/calls/${id}`)).body.data.output,
      (await get('/v1/calls?limit=1')).body.data.items[0].output,
      exported.text.includes(JSON.stringify(large)),
    ]).toEqual([large, large, true])
    answer('{"id":9007199254740991,"rate":1e2}')
    const exact = String((await call()).body.meta.call_id)
    expect((await get(`/v1/calls/${exact}`)).body.data.output).toEqual({ id: 9007199254740991, rate: 100 })
  })
  it('says in bytes how much of it is shown', async () => {
    answer(JSON.stringify('é'.repeat(4000)))
    const { truncated } = (await call({ max_result_bytes: 1024 })).body.meta as {
      truncated: { shown: number; preview: { head: string; tail: string } }
    }
    expect(truncated.shown).toBe(Buffer.byteLength(truncated.preview.head) + Buffer.byteLength(truncated.preview.tail))
    expect(truncated.shown > truncated.preview.head.length + truncated.preview.tail.length).toBe(true)
  })
  it('is its agent’s alone, sealed in the database, and gone after a day', async () => {
    answer(JSON.stringify({ secret: 'nobody reads this '.repeat(200) }))
    const first = await call({ max_result_bytes: 1024 })
    const second = await call({ max_result_bytes: 1024 })
    const other = await registry.agent('other')
    expect([(await get(nextOf(first), other)).status, (await registry.send('GET', nextOf(first))).status]).toEqual([404, 404])
    const [stored] = await registry.sql`select string_agg(encode(bytes, 'escape'), '') as text from call_results`
    expect(String(stored?.['text'])).not.toContain('nobody reads')
    const cursor = new URL(nextOf(first), 'http://x').searchParams.get('cursor')
    expect((await get(`/v1/calls/${second.body.meta.call_id}/result?cursor=${cursor}`)).body.error?.code).toBe('INVALID_REQUEST')
    // A piece that was moved to another call in the database does not open there.
    await registry.sql`update call_results a set bytes = b.bytes from call_results b where a.call_id = ${first.body.meta.call_id ?? ''} and b.call_id = ${second.body.meta.call_id ?? ''}`
    expect((await get(nextOf(first))).body.error?.code).toBe('EXPIRED')
    await registry.sql`update call_results set kept_at = now() - interval '25 hours'`
    expect([(await get(nextOf(second))).status, (await get(nextOf(second))).body.error?.code]).toEqual([410, 'EXPIRED'])
  })
  it('is not given to whoever lost the right to its version', async () => {
    await registry.publish({ name: 'tell-secrets', output: null, front: 'permission: [vault]\neffects: read' })
    await registry.release('tell-secrets', '1.0.0')
    const holder = await registry.agent('holder', { grants: ['vault'] })
    answer(JSON.stringify({ text: 'x'.repeat(5000) }))
    const reply = await registry.send('POST', '/v1/skills/tell-secrets/calls', { key: holder, body: { max_result_bytes: 1024 } })
    expect((await get(nextOf(reply), holder)).status).toBe(200)
    await registry.send('POST', '/v1/agents/holder/grants', { body: { pattern: 'vault', deny: true, reason: 'a test denies it' } })
    expect((await get(nextOf(reply), holder)).body.error?.code).toBe('PERMISSION_DENIED')
  })
})

describe('POST /v1/calls/{id}/replay', () => {
  const replay = (id: unknown, body: object = {}, as = key): Promise<Reply> =>
    registry.send('POST', `/v1/calls/${String(id)}/replay`, { key: as, body })
  it('is a dry run unless told otherwise, and a row of its own that names the first', async () => {
    answer('{"n":1}')
    const first = await call({ arguments: { b: 1, a: 'ü' }, intent: 'to see', labels: { team: 'x' } })
    const id = first.body.meta.call_id
    registry.executions.length = 0
    const dry = await replay(id)
    expect([dry.body.meta.dry_run, dry.body.data.arguments, registry.executions.length]).toEqual([true, { b: 1, a: 'ü' }, 0])
    const again = await replay(id, { dry_run: false })
    expect([again.body.data, again.body.meta.call_id === id]).toEqual([{ n: 1 }, false])
    expect((await get(`/v1/calls/${again.body.meta.call_id}`)).body.data).toMatchObject({
      replay_of: id,
      intent: 'to see',
      labels: { team: 'x' },
      agent_id: 'reader',
    })
  })
  it('is decided by the rights of whoever asks', async () => {
    await registry.publish({ name: 'use-vault', front: 'permission: [vault]\neffects: read' })
    await registry.release('use-vault', '1.0.0')
    const holder = await registry.agent('vaulted', { grants: ['vault'] })
    const stranger = await registry.agent('stranger')
    const first = await registry.send('POST', '/v1/skills/use-vault/calls', { key: holder, body: {} })
    const id = first.body.meta.call_id
    expect([(await replay(id, {}, holder)).status, (await replay(id, {}, stranger)).status]).toEqual([200, 404])
    const operator = await registry.agent('operator', { role: 'operator' })
    expect((await replay(id, {}, operator)).body.error?.code).toBe('PERMISSION_DENIED')
    const auditor = await registry.agent('auditor', { role: 'auditor', grants: ['payload:read'] })
    expect((await replay(id, {}, auditor)).status).toBe(404)
  })
  it('NOT_REPLAYABLE where what was given is not there as it was', async () => {
    answer('{}')
    const large = await call({ arguments: { text: 'x'.repeat(100_000) } })
    expect([(await replay(large.body.meta.call_id)).status, (await replay(large.body.meta.call_id)).body.error?.code]).toEqual([
      409,
      'NOT_REPLAYABLE',
    ])
    const gone = await call({ arguments: { a: 1 } })
    await get(`/v1/calls/${gone.body.meta.call_id}`)
    await registry.sql`delete from call_payloads where call_id = ${gone.body.meta.call_id ?? ''}`
    expect((await replay(gone.body.meta.call_id)).body.error?.code).toBe('NOT_REPLAYABLE')
  })
})
