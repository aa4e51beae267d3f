import { Repertoire, RepertoireError, type BackgroundCall } from '@repertoire/sdk'
import { describe, expect, it } from 'vitest'

type Sent = { readonly method: string; readonly path: string; readonly headers: Headers; readonly body: unknown }

const meta = { request_id: 'r', revision: 1, warnings: [] }
const good = (data: unknown, status = 200): Response => Response.json({ ok: true, data, error: null, meta }, { status })
const bad = (status: number, code: string): Response =>
  Response.json(
    { ok: false, data: null, error: { code, origin: 'registry', effect: 'none', next: 'fix_input', message: 'No.', details: [] }, meta },
    { status },
  )
const row = (more: object): Response =>
  good({ call_id: 'c1', state: 'done', skill: 'a', version: '1.2.0', via: 'stable', outcome: 'ok', total_ms: 5, settled: null, ...more })
const running = (): Response => row({ state: 'running', outcome: 'unknown' })
const started = (): Response => good({ call_id: 'c1', state: 'running' }, 202)

/** Starts a call that is answered by turns. */
async function start(...answers: Response[]): Promise<{ readonly call: BackgroundCall<unknown>; readonly sent: Sent[] }> {
  const sent: Sent[] = []
  const send = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    init.signal?.throwIfAborted()
    sent.push({
      method: init.method ?? 'GET',
      path: String(url).replace('http://registry', ''),
      headers: new Headers(init.headers),
      body: init.body === undefined ? undefined : JSON.parse(String(init.body)),
    })
    const answer = answers.length > 1 ? answers.shift() : answers[0]?.clone()
    if (answer === undefined) throw new Error('nothing answers')
    return answer
  }
  answers.unshift(started())
  const client = new Repertoire({ url: 'http://registry', key: 'k', fetch: send as typeof fetch })
  const call = await client.callInBackground('a', { n: 1 }, { idempotencyKey: 'once', onBehalfOf: 'ada.s.token', timeoutMs: 9000 })
  return { call, sent }
}
const errorOf = (work: Promise<unknown>): Promise<RepertoireError> =>
  work.then(
    () => Promise.reject(new Error('it resolved')),
    (error: unknown) => (error instanceof RepertoireError ? error : Promise.reject(error)),
  )

describe('a call in the background', () => {
  it('is started with what was given, and asked for as the same user until it ends; its pieces make one result', async () => {
    const { call, sent } = await start(
      running(),
      row({}),
      good({ text: '{"long":"a', next: '/v1/calls/c1/result?cursor=x1' }),
      good({ text: 'b"}', next: null }),
    )
    const { data, meta: about } = await call.wait()
    expect([call.id, data, about]).toEqual([
      'c1',
      { long: 'ab' },
      expect.objectContaining({ call_id: 'c1', version: '1.2.0', outcome: 'ok' }),
    ])
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/skills/a/calls',
      'GET /v1/calls/c1?wait=30',
      'GET /v1/calls/c1?wait=30',
      'GET /v1/calls/c1/result',
      'GET /v1/calls/c1/result?cursor=x1',
    ])
    expect(sent[0]?.body).toEqual({ arguments: { n: 1 }, timeout_ms: 9000 })
    expect([sent[0]?.headers.get('prefer'), sent[0]?.headers.get('idempotency-key')]).toEqual(['respond-async', 'once'])
    expect(new Set(sent.map(({ headers }) => headers.get('repertoire-on-behalf-of')))).toEqual(new Set(['ada.s.token']))
    // Its key is for its start: another request with it would be another call.
    expect(sent.slice(1).map(({ headers }) => [headers.get('prefer'), headers.get('idempotency-key')])).toEqual(Array(4).fill([null, null]))
  })
  it.each([
    [
      'of the registry',
      { outcome: 'timeout', error_code: 'TIMEOUT', error_origin: 'upstream' },
      ['TIMEOUT', 'upstream', 'possible', 'retry', 504],
    ],
    [
      'of the skill',
      { outcome: 'skill_error', error_code: 'TIMEOUT', error_origin: 'skill' },
      ['TIMEOUT', 'skill', 'possible', 'ask_human', 200],
    ],
    ['that did nothing', { outcome: 'busy', error_code: 'BUSY', error_origin: 'registry' }, ['BUSY', 'registry', 'none', 'retry', 503]],
    [
      'that was lost and found',
      { outcome: 'unknown', error_code: 'OUTCOME_UNKNOWN', error_origin: 'registry', settled: { happened: true } },
      ['OUTCOME_UNKNOWN', 'registry', 'done', 'ask_human', 409],
    ],
  ])('throws the error %s as if it had been waited for', async (_, ended, said) => {
    const { call } = await start(row({ error_message: 'It broke.', ...ended }))
    const { code, origin, effect, next, status, message, meta: about } = await errorOf(call.wait())
    expect([[code, origin, effect, next, status], message, about?.call_id]).toEqual([said, 'It broke.', 'c1'])
  })
  it('goes on when nobody waits any longer', async () => {
    const { call, sent } = await start(running())
    expect((await errorOf(call.wait({ timeoutMs: 300 }))).code).toBe('NO_END')
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1)
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(call.wait({ signal: stop.signal })).rejects.toThrow('enough')
  })
  it('is asked to end, and says so when it has ended already', async () => {
    const { call, sent } = await start(
      good({ call_id: 'c1', cancel_requested: true }),
      bad(409, 'ILLEGAL_TRANSITION'),
      bad(404, 'NOT_FOUND'),
    )
    expect([await call.cancel(), await call.cancel(), (await errorOf(call.cancel())).code]).toEqual([true, false, 'NOT_FOUND'])
    expect(sent[1]).toMatchObject({ method: 'POST', path: '/v1/calls/c1/cancel' })
    expect(sent[1]?.headers.get('repertoire-on-behalf-of')).toBe('ada.s.token')
  })
})
