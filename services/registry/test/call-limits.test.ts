import { TagClasses } from '@repertoire/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let key: string
const call = (name: string, body: object = {}): Promise<Reply> => registry.send('POST', `/v1/skills/${name}/calls`, { key, body })

beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.publish({ name: 'write-note', front: 'permission: []\neffects: once\ntimeout_ms: 500' })
  await registry.release('write-note', '1.0.0')
  key = await registry.agent('caller')
})
beforeEach(() => registry.execute(() => ({ kind: 'result', json: Buffer.from('{}') })))
afterAll(() => registry.close())

describe('what bounds a call', () => {
  it('what an executor brings is one JSON value and nothing else, or EXECUTOR_FAILED', async () => {
    for (const bad of [
      '{not json',
      '{"a":1},"error":null,"meta":{"forged":true}}',
      '',
      Buffer.from([0x22, 0xff, 0x22]),
      `${'['.repeat(300)}${']'.repeat(300)}`,
    ]) {
      registry.execute(() => ({ kind: 'result', json: Buffer.from(bad) }))
      const reply = await call('write-note', {})
      expect([reply.status, reply.body.error?.code, reply.body.error?.effect, reply.body.error?.next]).toEqual([
        502,
        'EXECUTOR_FAILED',
        'possible',
        'ask_human',
      ])
    }
    registry.execute(() => ({ kind: 'result', json: Buffer.from('\uFEFF{"a":1}') }))
    expect((await call('write-note', {})).body.data).toEqual({ a: 1 })
  })
  it('no call is answered as if it had a row when writing it broke in a way nobody expected', async () => {
    const { calls } = registry.deps
    const broken = await openTestRegistry({ calls: { ...calls, append: () => Promise.reject(new Error('a fault of the log')) } })
    try {
      const reply = await broken.send('POST', '/v1/skills/nowhere/calls', { body: {} })
      expect([reply.status, reply.body.error?.code, broken.bugs.length]).toEqual([500, 'INTERNAL', 1])
    } finally {
      await broken.close()
    }
  })
  it('nobody is told to try again what happens once and may have happened', async () => {
    registry.execute(() => ({ kind: 'failed', code: 'TIMEOUT', reason: 'deadline', message: 'Late.', details: [] }))
    expect((await call('write-note', {})).body.error).toMatchObject({ code: 'TIMEOUT', effect: 'possible', next: 'ask_human' })
    registry.execute(() => ({ kind: 'failed', code: 'EXECUTOR_UNREACHABLE', reason: 'network', message: 'Away.', details: [] }))
    expect((await call('write-note', {})).body.error).toMatchObject({ effect: 'none', next: 'retry' })
    registry.execute(() => {
      throw new Error('a fault of ours')
    })
    const bug = await call('write-note', {})
    expect([
      bug.status,
      bug.body.error?.effect,
      bug.body.error?.next,
      bug.body.meta.call_id === undefined,
      registry.bugs.splice(0).length,
    ]).toEqual([500, 'possible', 'ask_human', false, 1])
  })
  it('believes a runner that watched: a skill that was refused before anything was done had no effect', async () => {
    for (const [effect, told] of [
      ['none', 'none'],
      ['possible', 'possible'],
      ['unknown', 'possible'],
    ] as const) {
      registry.execute(() => ({
        kind: 'skill_error',
        code: 'RECIPIENT_NOT_ALLOWED',
        message: 'No.',
        retryable: false,
        details: [],
        effect,
      }))
      expect((await call('write-note', {})).body.error?.effect).toBe(told)
    }
  })
  it('cuts at what the manifest says, unless the call says otherwise', async () => {
    await registry.publish({ name: 'talk-a-lot', front: 'permission: []\neffects: read\nmax_result_bytes: 1024' })
    await registry.release('talk-a-lot', '1.0.0')
    registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify({ t: 'x'.repeat(3000) })) }))
    const cut = await call('talk-a-lot', {})
    const whole = await call('talk-a-lot', { max_result_bytes: 4096 })
    expect([cut.body.data, cut.body.meta.truncated !== undefined, whole.body.meta.truncated]).toEqual([null, true, undefined])
  })
  it('keeps the row of a call whatever the length of what others wrote into it, and the rows that come after it', async () => {
    await registry.publish({ name: 'name-much', output: { type: 'object', properties: {}, additionalProperties: false } })
    await registry.release('name-much', '1.0.0')
    registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify({ ['k'.repeat(6_000_000)]: 1 })) }))
    const long = await call('name-much', {})
    expect([long.status, long.body.error?.code, long.text.length < 20_000]).toEqual([502, 'OUTPUT_SCHEMA_MISMATCH', true])
    registry.execute(() => ({
      kind: 'skill_error',
      code: 'NO',
      message: 'no '.repeat(3_000_000),
      retryable: false,
      details: [],
      effect: 'none',
    }))
    const wordy = await call('write-note', {})
    registry.execute(() => ({ kind: 'result', json: Buffer.from('{}') }))
    const next = await call('write-note', {})
    const rows = await Promise.all(
      [long, wordy, next].map(async ({ body }) => (await registry.send('GET', `/v1/calls/${body.meta.call_id}`)).body.data),
    )
    expect(rows.map((row) => row?.outcome)).toEqual(['output_mismatch', 'skill_error', 'ok'])
    expect([rows[0].violations[0].path.length, rows[1].error_message.length]).toEqual([256, 1024])
  })
  it('passes the shorter of both deadlines on', async () => {
    await call('write-note', { timeout_ms: 50 })
    await call('write-note', { timeout_ms: 9000 })
    // What went by before counts: the deadline is that of the whole call.
    const [short = 0, long = 0] = registry.executions.slice(-2).map((execution) => execution.timeoutMs)
    expect([short > 0, short <= 50, long > 250, long <= 500]).toEqual([true, true, true, true])
  })
})

describe('code that came through the API', () => {
  it('503 CAGE_MISSING: is not run unless the operator says so', async () => {
    const strict = await openTestRegistry({
      settings: {
        replica: 'strict',
        allowUnsandboxed: false,
        staleLimitMs: 900_000,
        agentRate: 1_000_000,
        installSecret: new Uint8Array(32),
        tagClasses: TagClasses.parse({}),
      },
    })
    try {
      await strict.publish({ name: 'stranger' })
      await strict.release('stranger', '1.0.0')
      const reply = await strict.send('POST', '/v1/skills/stranger/calls', { body: {} })
      expect([reply.status, reply.body.error?.code, strict.executions]).toEqual([503, 'CAGE_MISSING', []])
    } finally {
      await strict.close()
    }
  })
  it('200: when the operator said so, the answer and the row say it too', async () => {
    const reply = await call('write-note', {})
    expect([
      (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data.executor,
      reply.body.meta.warnings.map((warning) => warning.code),
    ]).toEqual(['code-unsandboxed', ['unbounded_range', 'unsandboxed']])
  })
})
