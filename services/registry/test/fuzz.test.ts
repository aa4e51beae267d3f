import { endpoints, errorCatalogue, type Endpoint } from '@repertoire/contract'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bodies, pathsOf, queries, type AskedAbout } from './support/every-route.ts'
import type { Send } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

const requests = Number(process.env['FUZZ_REQUESTS'] ?? 4000)

let registry: TestRegistry
let agentKey: string
const item: AskedAbout = {
  name: 'fuzzed-one',
  version: '1.0.0',
  candidate: '1.1.0',
  call: '01980000-0000-7000-8000-000000000000',
  rollout: '',
}
let about = item

beforeAll(async () => {
  registry = await openTestRegistry()
  // Whom the paths name, and whom broken requests may disable, is not who asks.
  await registry.agent('holder')
  agentKey = await registry.agent('asking-agent')
  for (const version of ['1.0.0', '1.1.0']) await registry.publish({ name: item.name, version })
  await registry.release(item.name, '1.0.0')
  const rollout = await registry.send('POST', `/v1/skills/${item.name}/rollouts`, {
    headers: { 'if-match': '*' },
    body: { version: '1.1.0', percent: 100, reason: 'a test tries it' },
  })
  about = { ...item, rollout: rollout.body.data.id }
})
afterAll(() => registry.close())

type Request = { method: string; path: string; options: Send }
type Breaking = (request: Request) => Request

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '..',
    '%00',
    '__proto__',
    'constructor',
    '*',
    'null',
    '-1',
    '1e999',
    '9007199254740993',
    'NaN',
    "' or 1=1 --",
    '<script>',
    '\u202e',
    '🤖',
  ),
  fc.string({ minLength: 300, maxLength: 400 }),
)
const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>,
  fc.constantFrom(null, [], {}, 0, -1, 1e308, true, '', 'x'.repeat(5000)),
  odd,
)
const deep = fc.integer({ min: 1, max: 200 }).map((levels) => `${'['.repeat(levels)}${']'.repeat(levels)}`)

/** One thing of a request that is not as it should be. */
const breaking: fc.Arbitrary<Breaking> = fc.oneof(
  fc.tuple(fc.nat(6), odd).map(([at, text]): Breaking => (request) => {
    const parts = request.path.split('/')
    parts[2 + (at % Math.max(1, parts.length - 2))] = encodeURIComponent(text.toWellFormed())
    return { ...request, path: parts.join('/') }
  }),
  fc.tuple(odd, odd).map(([name, value]): Breaking => (request) => ({
    ...request,
    path: `${request.path}${request.path.includes('?') ? '&' : '?'}${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`,
  })),
  fc
    .tuple(
      fc.constantFrom('dry_run', 'wait', 'limit', 'cursor', 'from', 'to', 'range', 'view', 'days', 'at', 'agent', 'skill', 'state'),
      odd,
    )
    .map(([name, value]): Breaking => (request) => ({
      ...request,
      path: `${request.path.split('?')[0]}?${name}=${encodeURIComponent(value.toWellFormed())}`,
    })),
  fc
    .tuple(
      fc.constantFrom(
        'if-match',
        'if-none-match',
        'repertoire-requires',
        'repertoire-instance',
        'repertoire-session',
        'repertoire-tenant',
        'traceparent',
        'idempotency-key',
        'content-type',
        'accept',
        'prefer',
        'repertoire-on-behalf-of',
        'authorization',
      ),
      fc.string({ unit: 'grapheme-ascii', maxLength: 300 }),
    )
    .map(([name, value]): Breaking => (request) => ({
      ...request,
      options: { ...request.options, headers: { ...request.options.headers, [name]: value } },
    })),
  fc.tuple(fc.nat(20), json).map(([at, value]): Breaking => (request) => {
    const body = { ...(request.options.body as Record<string, unknown> | undefined) }
    const names = [...Object.keys(body), 'unknown_field']
    return { ...request, options: { ...request.options, body: { ...body, [names[at % names.length] ?? 'x']: value } } }
  }),
  json.map((body): Breaking => (request) => ({ ...request, options: { ...request.options, body } })),
  fc
    .oneof(deep, odd, fc.constantFrom('{"a":1,"a":2}', '{', '"', '{"reason":"\\ud800"}', '{"__proto__":{}}', '[1,]'))
    .map((raw): Breaking => (request) => ({
      ...request,
      options: { headers: { ...request.options.headers, 'content-type': 'application/json' }, raw },
    })),
  fc.uint8Array({ maxLength: 200 }).map((raw): Breaking => (request) => ({
    ...request,
    options: { headers: { ...request.options.headers, 'content-type': 'application/zip' }, raw },
  })),
  fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS').map((method): Breaking => (request) => {
    const { body: _body, raw: _raw, ...options } = request.options
    return method === 'GET' ? { ...request, method, options } : { ...request, method }
  }),
)

const routes = (Object.entries(endpoints) as [keyof typeof endpoints, Endpoint][]).filter(([name]) => name !== 'metrics')

describe('requests in which one thing is broken', () => {
  it(
    'are answered with an envelope, a code of the catalogue and no fault of ours; nothing of our inside is told',
    async () => {
      const wrong: string[] = []
      const seen = new Map<number, number>()
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...routes), fc.nat(3), breaking, fc.boolean(), async ([name, endpoint], at, breakIt, byAgent) => {
          const paths = pathsOf(endpoint, about).flatMap((path) => (queries[name]?.(about) ?? ['']).map((query) => `${path}${query}`))
          const body = bodies[name]?.(about)
          const request = breakIt({
            method: endpoint.method,
            path: paths[at % paths.length] ?? endpoint.path,
            options: { headers: { 'if-match': '*' }, ...(body === undefined ? {} : { body }) },
          })
          const { method, path, options } = request
          // What a browser's Headers or Request refuses never leaves the client.
          if (method === 'GET' && (options.body !== undefined || options.raw !== undefined)) return
          const reply = await registry.send(method, path, { ...options, ...(byAgent ? { key: agentKey } : {}) })
          seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
          const isOurs = path.startsWith('/v1')
          const { error } = reply.body
          const told = isOurs ? reply.text : ''
          if (reply.status >= 500 && reply.status !== 503)
            wrong.push(`${method} ${path} ${JSON.stringify(options)}: ${reply.status} ${reply.text.slice(0, 200)}`)
          else if (
            isOurs &&
            reply.status >= 400 &&
            (error === null || error === undefined || !(error.code in errorCatalogue) || error.message === '')
          )
            wrong.push(`${method} ${path}: no envelope: ${reply.text.slice(0, 200)}`)
          else if (
            told.includes(process.cwd()) ||
            /\bat .*\.[jt]s:\d+|node_modules|select .* from|PostgresError|ZodError|TypeError/i.test(told)
          )
            wrong.push(`${method} ${path}: tells of our inside: ${told.slice(0, 300)}`)
        }),
        { numRuns: requests },
      )
      console.log(
        `${requests} broken requests over ${routes.length} routes: ${[...seen]
          .sort(([a], [b]) => a - b)
          .map(([status, count]) => `${count} × ${status}`)
          .join(', ')}`,
      )
      expect([wrong.slice(0, 5), registry.bugs.slice(0, 3)]).toEqual([[], []])
    },
    Math.max(60_000, requests * 20),
  )
})
