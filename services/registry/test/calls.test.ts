import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
const input = {
  type: 'object',
  properties: { order_id: { type: 'string' }, count: { type: 'integer' } },
  required: ['order_id'],
  additionalProperties: false,
}
const amount = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] }
const total = { type: 'object', properties: { total_amount: { type: 'number' } }, required: ['total_amount'] }
const examples = 'permission: []\neffects: read\nexamples:\n  - say: order 1\n    params: {order_id: "1"}'

const call = (name: string, body: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${name}/calls`, { key, body, headers })
const rowOf = async (reply: Reply): Promise<Record<string, unknown>> =>
  (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data

beforeAll(async () => {
  registry = await openTestRegistry()
  for (const [version, output] of [
    ['1.0.0', amount],
    ['2.0.0', total],
  ] as const) {
    await registry.publish({ name: 'query-order', version, input, output, front: examples })
    await registry.release('query-order', version)
  }
  await registry.publish({ name: 'send-mail', front: 'permission: [smtp]\neffects: once' })
  await registry.release('send-mail', '1.0.0')
  await registry.publish({ name: 'write-note', front: 'permission: []\neffects: once\ntimeout_ms: 500' })
  await registry.release('write-note', '1.0.0')
  await registry.publish({
    name: 'handle-order',
    front: 'permission: []\nunlocks: [query-order]',
    body: 'Ask first.',
    input: null,
    output: null,
    files: {},
  })
  await registry.release('handle-order', '1.0.0')
  key = await registry.agent('caller')
})
beforeEach(() => {
  registry.execute(() => ({ kind: 'result', json: Buffer.from('{ "amount": 12.50, "total_amount": 12.50 }') }))
})
afterAll(() => registry.close())

describe('POST /v1/skills/{name}/calls', () => {
  it('200: data from the version its range resolves to, byte for byte, and one row that says why', async () => {
    const reply = await call('query-order', {
      range: '^1',
      arguments: { order_id: '71781' },
      session: 's1',
      intent: 'look it up',
      labels: { team: 'desk' },
    })
    expect(reply.status).toBe(200)
    expect(reply.text).toContain('"data":{ "amount": 12.50, "total_amount": 12.50 }')
    expect(reply.body.meta).toMatchObject({
      skill: 'query-order',
      version: '1.0.0',
      via: 'stable',
      outcome: 'ok',
      warnings: [{ code: 'unsandboxed' }],
    })
    expect(await rowOf(reply)).toMatchObject({
      skill: 'query-order',
      version: '1.0.0',
      via: 'stable',
      requested_range: '^1',
      agent_id: 'caller',
      outcome: 'ok',
      executor: 'code-unsandboxed',
      attempts: 1,
      session: 's1',
      intent: 'look it up',
      labels: { team: 'desk' },
      input: { order_id: '71781' },
      output: { amount: 12.5, total_amount: 12.5 },
      error_code: null,
      dry_run: false,
      authz_rule: 'open',
    })
  })
  it('200: two agents with ^1 and ^2 each get their own', async () => {
    const replies = await Promise.all(
      ['^1', '^2'].map((range) => call('query-order', { arguments: { order_id: '1' } }, { 'repertoire-requires': `query-order@${range}` })),
    )
    expect(replies.map((reply) => reply.body.meta.version)).toEqual(['1.0.0', '2.0.0'])
    expect(await Promise.all(replies.map(async (reply) => (await rowOf(reply))['requested_range']))).toEqual(['^1', '^2'])
  })
  it('200: what an instance declared binds its calls, and a call only narrows it', async () => {
    const bound = await registry.agent('bound')
    const declare = (): Promise<Reply> =>
      registry.send('PUT', '/v1/agents/self/requirements', { key: bound, body: { requires: { 'query-order': '^1' } } })
    const first = await declare()
    const again = await declare()
    expect([first.body.data.changed, again.body.data.changed, again.body.meta.revision]).toEqual([true, false, first.body.meta.revision])
    const reply = await registry.send('POST', '/v1/skills/query_order/calls', { key: bound, body: { arguments: { order_id: '1' } } })
    const wider = await registry.send('POST', '/v1/skills/query-order/calls', {
      key: bound,
      body: { range: '^2', arguments: { order_id: '1' } },
    })
    const other = await registry.send('POST', '/v1/skills/query-order/calls', {
      key: bound,
      body: { arguments: { order_id: '1' } },
      headers: { 'repertoire-instance': 'blue' },
    })
    expect([reply.body.meta.version, wider.body.error?.code, other.body.meta.version]).toEqual(['1.0.0', 'NO_MATCHING_VERSION', '2.0.0'])
    expect(wider.body.error?.message).toBe('No version of query-order satisfies all of ^2 and ^1.')
  })
  it('200: a dry run resolves and validates, and executes nothing', async () => {
    const before = registry.executions.length
    const reply = await call('query-order', { range: '^1', arguments: { order_id: '1' }, dry_run: true })
    expect(reply.body.data).toEqual({ would_call: { skill: 'query-order', version: '1.0.0', via: 'stable' }, arguments: { order_id: '1' } })
    expect([registry.executions.length - before, reply.body.meta.dry_run, (await rowOf(reply))['dry_run']]).toEqual([0, true, true])
  })
  it('200: a playbook answers with its instructions', async () => {
    const reply = await call('handle-order', {})
    expect(reply.body.data).toEqual({ instructions: 'Ask first.\n', unlocks: ['query-order'], files: ['SKILL.md'] })
  })
  it("200: the skill's own no is a result, with its own code and origin", async () => {
    registry.execute(() => ({
      kind: 'skill_error',
      code: 'PERMISSION_DENIED',
      message: 'Not your order.',
      retryable: false,
      details: [],
      effect: 'unknown',
    }))
    const reply = await call('query-order', { arguments: { order_id: '1' } })
    expect([reply.status, reply.body.ok, reply.body.error]).toEqual([
      200,
      false,
      { code: 'PERMISSION_DENIED', origin: 'skill', effect: 'none', next: 'fix_input', message: 'Not your order.', details: [] },
    ])
    expect(await rowOf(reply)).toMatchObject({ outcome: 'skill_error', error_code: 'PERMISSION_DENIED', error_origin: 'skill' })
  })
  it('200: a result over the limit is cut where that is plain to see', async () => {
    registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify({ amount: 1, total_amount: 1, text: 'ä'.repeat(5000) })) }))
    const reply = await call('query-order', { arguments: { order_id: '1' }, max_result_bytes: 1024 })
    expect([reply.body.data, reply.body.meta.warnings.map((warning) => warning.code)]).toEqual([
      null,
      ['unbounded_range', 'unsandboxed', 'result_cut'],
    ])
    expect(reply.body.meta.truncated).toMatchObject({ bytes: 10_039, next: expect.stringMatching(/^\/v1\/calls\/.*\/result\?cursor=/) })
    expect(reply.text).not.toContain('\uFFFD')
  })
  it('200: expect_version runs what the caller read about while it can be served', async () => {
    const reply = await call('query-order', { arguments: { order_id: '1' }, expect_version: '1.0.0' })
    expect([reply.body.meta.version, reply.body.meta.via]).toEqual(['1.0.0', 'session'])
  })

  it('400 INVALID_REQUEST: a body that is no call', async () => {
    for (const [raw, headers] of [
      ['{"arguments":', { 'content-type': 'application/json' }],
      ['[]', { 'content-type': 'application/json' }],
      ['{"argumentz":{}}', { 'content-type': 'application/json' }],
    ] as const) {
      const reply = await registry.send('POST', '/v1/skills/query-order/calls', { key, raw, headers })
      expect([raw, reply.status, reply.body.error?.code]).toEqual([raw, 400, 'INVALID_REQUEST'])
    }
  })
  it('400 INVALID_INPUT: says which argument is wrong and how to mend it, and the row says the same', async () => {
    const reply = await call('query-order', { arguments: { orderid: '1' } })
    expect([reply.status, reply.body.error?.code, reply.body.error?.next]).toEqual([400, 'INVALID_INPUT', 'fix_input'])
    expect(reply.body.error?.details).toEqual([
      {
        path: '/orderid',
        rule: 'required',
        expected: 'order_id',
        got: 'orderid',
        did_you_mean: 'order_id',
        fix: 'rename orderid to order_id',
      },
    ])
    expect(reply.body.error?.hint).toBe('valid arguments look like {"order_id":"1"}')
    expect(await rowOf(reply)).toMatchObject({
      outcome: 'invalid_input',
      violations: [{ path: '/orderid', rule: 'required' }],
      input: { orderid: '1' },
    })
  })
  it.each([
    ['null', '{"arguments":null}'],
    ['an array', '{"arguments":[1]}'],
    ['an integer beyond 2^53', '{"arguments":{"order_id":"1","count":9007199254740993}}'],
    ['a key that stands twice', '{"arguments":{"order_id":"1","order_id":"2"}}'],
    ['U+0000', String.raw`{"arguments":{"order_id":"a\u0000b"}}`],
    ['half a surrogate pair', String.raw`{"arguments":{"order_id":"\ud800"}}`],
    ['a number no double holds', '{"arguments":{"order_id":"1","count":1e400}}'],
  ])('400 INVALID_INPUT: %s', async (_, raw) => {
    const reply = await registry.send('POST', '/v1/skills/query-order/calls', { key, raw, headers: { 'content-type': 'application/json' } })
    expect([reply.status, reply.body.error?.code, (await rowOf(reply))['outcome']]).toEqual([400, 'INVALID_INPUT', 'invalid_input'])
  })
  it('403 PERMISSION_DENIED: nothing is executed, and the row is there', async () => {
    const before = registry.executions.length
    const reply = await call('send-mail', {})
    expect([reply.status, reply.body.error?.code, registry.executions.length]).toEqual([403, 'PERMISSION_DENIED', before])
    expect(await rowOf(reply)).toMatchObject({ outcome: 'denied', error_code: 'PERMISSION_DENIED', agent_id: 'caller' })
  })
  it('403 PERMISSION_DENIED: nobody calls without the tag, not even an admin', async () => {
    expect((await registry.send('POST', '/v1/skills/send-mail/calls', { body: {} })).body.error?.code).toBe('PERMISSION_DENIED')
  })
  it('404: what is not resolved is a row too', async () => {
    const reply = await call('nowhere', {})
    expect([reply.status, reply.body.error?.code, (await rowOf(reply))['outcome']]).toEqual([404, 'SKILL_NOT_FOUND', 'not_resolved'])
  })
  it('409 VERSION_CHANGED: an expected version that is gone comes with the new schema', async () => {
    const reply = await call('query-order', { range: '^2', arguments: { order_id: '1' }, expect_version: '1.0.0' })
    expect([reply.status, reply.body.error?.code, reply.body.error?.next]).toEqual([409, 'VERSION_CHANGED', 'reload'])
  })
  it('502 OUTPUT_SCHEMA_MISMATCH: an answer outside the declared schema reaches nobody', async () => {
    registry.execute(() => ({ kind: 'result', json: Buffer.from('{"amount":"a lot"}') }))
    const reply = await call('query-order', { range: '^1', arguments: { order_id: '1' } })
    expect([reply.status, reply.body.error?.code, reply.body.error?.effect, reply.body.data]).toEqual([
      502,
      'OUTPUT_SCHEMA_MISMATCH',
      'done',
      null,
    ])
    expect(await rowOf(reply)).toMatchObject({ outcome: 'output_mismatch', output: null })
  })
  it.each([
    ['EXECUTOR_FAILED', 502, 'executor_error'],
    ['EXECUTOR_UNREACHABLE', 502, 'executor_error'],
    ['CAGE_MISSING', 503, 'executor_error'],
    ['BUSY', 503, 'busy'],
    ['TIMEOUT', 504, 'timeout'],
  ] as const)('%s %i: what an executor could not do, and what that may have done', async (code, status, outcome) => {
    registry.execute(() => ({ kind: 'failed', code, reason: 'some_reason', message: 'It broke.', details: [] }))
    const reply = await call('write-note', {})
    const mayHaveHappened = code === 'EXECUTOR_FAILED' || code === 'TIMEOUT' ? 'possible' : 'none'
    expect([reply.status, reply.body.error?.code, reply.body.error?.effect]).toEqual([status, code, mayHaveHappened])
    expect(reply.body.error?.details[0]).toEqual({ reason: 'some_reason' })
    expect(await rowOf(reply)).toMatchObject({ outcome, error_code: code })
  })
  it('500 INTERNAL: a fault of ours says nothing but the request id, and is a row', async () => {
    registry.execute(() => {
      throw new Error('select secret from table_of_ours')
    })
    const reply = await call('write-note', {})
    expect([reply.status, reply.body.error?.code]).toEqual([500, 'INTERNAL'])
    expect(reply.text).not.toMatch(/secret|\.ts:|\\n\s+at /)
    expect(reply.body.error?.message).toContain(reply.body.meta.request_id)
    expect(registry.bugs.splice(0)).toHaveLength(1)
    await rowOf(reply)
    expect(await registry.sql`select 1 from calls where outcome = 'registry_error' and error_code = 'INTERNAL'`).toHaveLength(1)
  })
})
