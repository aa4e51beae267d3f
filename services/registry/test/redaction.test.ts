import { compileRedaction, writeKey } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

// Each place has a canary of its own, so that one that survives says where it came in.
const tail = (place: string): string => createHmac('sha256', 'canary').update(place).digest('hex').slice(0, 24)
const places = new Map<string, string>()
function canary(place: string, write: (rest: string) => string = (rest) => `ghp_7${rest}`): string {
  places.set(place, tail(place))
  return write(tail(place))
}

let registry: TestRegistry
let key: string
const log: string[] = []

const secretive = {
  type: 'object',
  properties: {
    note: { type: 'string', 'x-sensitive': 'redact' },
    patient: { type: 'string', 'x-sensitive': 'hash' },
    scan: { type: 'string', 'x-sensitive': 'drop' },
    pin: { type: 'string', writeOnly: true },
  },
  additionalProperties: true,
}
const answers = { type: 'object', properties: { code: { type: 'string', format: 'password' } }, additionalProperties: true }

const call = (name: string, body: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
  registry.send('POST', `/v1/skills/${name}/calls`, { key, body, headers })
const rowOf = async (reply: Reply): Promise<Record<string, unknown>> =>
  (await registry.send('GET', `/v1/calls/${reply.body.meta.call_id}`)).body.data

beforeAll(async () => {
  const redaction = compileRedaction(
    { rules: [{ name: 'staff', pattern: 'EMP-[0-9a-f]{24}', action: 'redact' }], keys: ['diagnosis'] },
    (text) => createHmac('sha256', 'test').update(text).digest('hex'),
  )
  registry = await openTestRegistry({ redaction }, undefined, undefined, (line) => void log.push(line))
  await registry.publish({ name: 'keep-secret', input: secretive, output: answers })
  await registry.release('keep-secret', '1.0.0')
  await registry.publish({ name: 'take-little', input: { type: 'object', properties: {}, additionalProperties: false } })
  await registry.release('take-little', '1.0.0')
  key = await registry.agent('caller')
})
afterAll(() => registry.close())

describe('a secret', () => {
  it('goes in at every place there is', async () => {
    registry.execute(() => ({
      kind: 'result',
      json: Buffer.from(
        JSON.stringify({
          found: [{ text: `is ${canary('output')}!` }],
          code: canary('output schema', (rest) => rest),
          session_token: canary('output name', (rest) => rest),
        }),
      ),
    }))
    const replies = [
      await call(
        'keep-secret',
        {
          arguments: {
            note: canary('schema redact', (rest) => rest),
            patient: canary('schema hash', (rest) => rest),
            scan: canary('schema drop', (rest) => rest),
            pin: canary('schema writeOnly', (rest) => rest),
            deep: { er: { still: [{ text: `see ${canary('nested input')}.` }] } },
            list: ['a', canary('list', (rest) => `sk-proj-7${rest}`)],
            header: canary('authorization', (rest) => `Authorization: Bearer ${rest}`),
            url: `https://jane:${canary('url', (rest) => rest)}@db.example.com/x`,
            link: `https://example.com/x?page=1&api_key=${canary('query string', (rest) => rest)}`,
            login: { dbPassword: canary('key name', (rest) => rest) },
            diagnosis: canary('operator name', (rest) => rest),
            by: canary('operator rule', (rest) => `EMP-${rest}`),
            nested: JSON.stringify({ client_secret: canary('json in a text', (rest) => rest) }),
            pem: canary('pem', (rest) => `-----BEGIN PRIVATE KEY-----\nMIIE${rest}\n-----END PRIVATE KEY-----\n`),
            token: canary('jwt', (rest) => `eyJhbGciOiJIUzI1NiJ9.eyJz${rest}.${rest}`),
            [canary('member name')]: 1,
          },
          intent: `because ${canary('intent')} said so`,
          labels: { [canary('label key')]: canary('label value'), api_key: canary('label name', (rest) => rest) },
          parent_call_id: canary('parent'),
        },
        {
          'idempotency-key': canary('idempotency key'),
          'repertoire-session': canary('session'),
          'repertoire-tenant': canary('tenant'),
          traceparent: `00-${canary('trace', (rest) => `ghp_7${rest}`)}-00f067aa0ba902b7-01`,
        },
      ),
      await call(`look-up-${canary('unknown skill')}`, { range: '^1' }),
      await call('keep-secret', { range: canary('range'), session: canary('session in body') }),
      await call('take-little', { arguments: { [canary('violation')]: 1 } }),
      await call('keep-secret', { arguments: { patient: 7, [canary('refused input')]: canary('refused value') } }),
    ]
    const says = (message: string): void =>
      registry.execute(() => ({
        kind: 'skill_error',
        code: canary('error code'),
        message,
        retryable: false,
        details: [{ message: canary('detail of a skill') }],
        effect: 'unknown',
      }))
    says(`the shop refused ${canary('error message')}`)
    replies.push(await call('keep-secret'))
    // As an executor cuts it: in the middle of what nobody knows by sight any more.
    says(`${'so '.repeat(330)}see ${canary('cut error message', (rest) => `https://jane:${rest}`)}`.slice(0, 1024))
    replies.push(await call('keep-secret'))
    registry.execute(() => ({
      kind: 'failed',
      code: 'EXECUTOR_FAILED',
      reason: 'upstream_status',
      message: 'It answered with status 500.',
      details: [{ expected: '2xx', got: '500', message: `upstream said ${canary('upstream text')}` }],
    }))
    replies.push(await call('keep-secret'))
    registry.execute(() => {
      throw new Error(`broke over ${canary('bug')}`, { cause: new Error(canary('cause of a bug')) })
    })
    replies.push(await call('keep-secret'))
    replies.push(await registry.send('GET', `/v1/calls?session=${canary('filter')}`))
    replies.push(await registry.send('GET', '/v1/skills', { key, headers: { 'repertoire-session': canary('session of a list') } }))
    replies.push(
      await registry.send('GET', '/v1/skills/keep-secret', { key, headers: { 'repertoire-session': canary('session of a load') } }),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 404, 400, 400, 400, 200, 200, 502, 500, 200, 200, 200])
    expect(places.size).toBeGreaterThan(35)
    // Its caller gets its own: nothing was redacted on that way.
    expect([
      replies[0]?.text.includes(tail('output')),
      replies[5]?.text.includes(tail('error message')),
      replies[7]?.text.includes(tail('upstream text')),
    ]).toEqual([true, true, true])
  })
  it('goes in with what is said and asked of calls afterwards', async () => {
    const [lost, ...others] = (await registry.send('GET', '/v1/calls?skill=keep-secret&limit=200')).body.data.items
    await registry.sql`update calls set outcome = 'unknown' where call_id = ${lost.call_id}`
    const replies = [
      await registry.send('POST', `/v1/calls/${others[0].call_id}/feedback`, { key, body: { note: `it said ${canary('feedback')}` } }),
      await registry.send('POST', `/v1/calls/${lost.call_id}/settle`, { body: { happened: true, reason: `saw ${canary('settlement')}` } }),
      await registry.send('GET', `/v1/calls/export?q=${canary('export')}`),
      await registry.send('GET', `/v1/calls/export?session=${canary('export of a session')}`),
    ]
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200, 200])
  })
  it('is in no table of the database', async () => {
    await registry.deps.calls.find({ from: new Date(0), to: new Date(), beyond: undefined, limit: 1 })
    await expect.poll(async () => (await registry.sql`select 1 from shown_events`).length, { timeout: 10_000 }).toBeGreaterThan(1)
    const tables = await registry.sql<{ name: string }[]>`select c.oid::regclass::text as name from pg_class c
      join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') and n.nspname not in ('pg_catalog', 'information_schema')`
    expect(tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['calls', 'call_payloads', 'shown_events', 'audit_events']))
    const dump: string[] = []
    for (const { name } of tables) {
      for (const row of await registry.sql.unsafe<Record<string, unknown>[]>(`select * from ${name}`))
        dump.push(
          Object.values(row)
            .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : JSON.stringify(value)))
            .join(' '),
        )
    }
    expect(dump.length).toBeGreaterThan(20)
    expect(survivors(dump.join('\n'))).toEqual([])
  })
  it('is nowhere on the disk of the replica', async () => {
    const files = await readdir(registry.folder, { recursive: true, withFileTypes: true })
    const bytes = await Promise.all(files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name))))
    const text = Buffer.concat(bytes).toString('latin1')
    // What was drained lies there still, until its place is used again.
    expect([text.includes('keep-secret'), text.includes('[redacted:github-token]'), survivors(text)]).toEqual([true, true, []])
  })
  it('is not in the application log, which tells of the fault all the same', () => {
    expect(registry.bugs).toHaveLength(1)
    expect([log.join('').includes('broke over [redacted:github-token]'), survivors(log.join(''))]).toEqual([true, []])
  })
  it('is in no answer of the call log, to whoever asks', async () => {
    const list = await registry.send('GET', '/v1/calls?limit=200')
    const own = await registry.send('GET', '/v1/calls', { key })
    const ids: string[] = list.body.data.items.map((row: { call_id: string }) => row.call_id)
    const each = await Promise.all(ids.map((id) => registry.send('GET', `/v1/calls/${id}`)))
    expect([ids.length, own.body.data.items.length]).toEqual([9, 9])
    expect(survivors([list, own, ...each].map((reply) => reply.text).join('\n'))).toEqual([])
    const exported = await Promise.all(['ndjson', 'csv'].map((format) => registry.send('GET', `/v1/calls/export?format=${format}`)))
    expect(exported.map((reply) => [reply.status, reply.text.length > 2000, survivors(reply.text)])).toEqual([
      [200, true, []],
      [200, true, []],
    ])
    const told = await readTail()
    expect([told.includes('keep-secret'), survivors(told)]).toEqual([true, []])
  })
})

describe('a row', () => {
  it('says which rules took how much out of it, and keeps the rest as it was', async () => {
    registry.execute(() => ({ kind: 'result', json: Buffer.from('{"n":12345678901234567890,"card": 4111111111111111 , "m" : 1.50}') }))
    const before = await registry.sql`select count(*)::int as n from calls`
    const reply = await call('keep-secret', { arguments: { patient: 'Jane', other: 1 }, intent: 'for card 4111 1111 1111 1111' })
    expect(await rowOf(reply)).toMatchObject({
      outcome: 'ok',
      intent: 'for card [redacted:card]',
      input: { patient: expect.stringMatching(/^\[hash:[0-9a-f]{16}\]$/), other: 1 },
      redaction: { rules: ['card', 'schema'], count: 3, failed: false },
      input_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    const [stored] =
      await registry.sql`select output, (select count(*)::int from calls) - ${before[0]?.['n']} as more from call_payloads where call_id = ${reply.body.meta.call_id ?? ''}`
    expect([String(stored?.['output']), stored?.['more']]).toEqual(['{"n":12345678901234567890,"card": "[redacted:card]" , "m" : 1.50}', 1])
    expect((await rowOf(await call('keep-secret', { arguments: { other: 1 } })))['redaction']).toMatchObject({ rules: ['card'], count: 1 })
  })
  it('finds equal inputs by their digest although they are redacted', async () => {
    const digest = async (password: string): Promise<unknown> =>
      (await rowOf(await call('keep-secret', { arguments: { password } })))['input_sha256']
    const [one, same, other] = [await digest('one'), await digest('one'), await digest('other')]
    expect([one === same, one === other]).toEqual([true, false])
  })
  it('keeps what a session is when it is no secret', async () => {
    expect(await rowOf(await call('keep-secret', { session: 'chat-17', labels: { team: 'desk' } }))).toMatchObject({
      session: 'chat-17',
      labels: { team: 'desk' },
    })
  })
  it('is kept without any payload when its redaction fails', async () => {
    registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify(Array.from({ length: 2500 }, () => 4111111111111111))) }))
    await registry.publish({ name: 'list-cards', output: null })
    await registry.release('list-cards', '1.0.0')
    const reply = await call('list-cards', { arguments: { a: 1 }, intent: 'look' })
    expect(reply.body.data).toHaveLength(2500)
    expect(await rowOf(reply)).toMatchObject({
      outcome: 'ok',
      skill: 'list-cards',
      input: null,
      output: null,
      intent: 'look',
      redaction: { failed: true },
    })
  })
  it('never keeps half of a secret that lies across the cut', async () => {
    const secret = writeKey('agent', new Uint8Array(64).fill(99))
    const value = `${'x'.repeat(65_536 - 40)} ${secret} ${'y'.repeat(200_000)}`
    registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify({ value })) }))
    const reply = await call('list-cards', {})
    const row = await rowOf(reply)
    expect([row['truncated'], String(row['output']).includes(secret.slice(0, 14)), String(row['output']).length]).toEqual([
      true,
      false,
      65_536,
    ])
  })
})

// Half of one is one too many.
/** What a stream of the whole log tells within a moment. */
async function readTail(): Promise<string> {
  const response = await registry.open('GET', '/v1/calls/tail?after=0')
  const reader = response.body?.getReader()
  let text = ''
  const over = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 1500))
  for (;;) {
    const chunk = await Promise.race([reader?.read(), over])
    if (chunk?.value === undefined) break
    text += Buffer.from(chunk.value).toString('utf8')
  }
  await reader?.cancel()
  return text
}

function survivors(text: string): string[] {
  return [...places].filter(([, core]) => text.includes(core.slice(0, 12)) || text.includes(core.slice(12))).map(([place]) => place)
}
