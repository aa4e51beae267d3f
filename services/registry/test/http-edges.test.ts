import { endpoints } from '@repertoire/contract'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApp } from '../src/app.ts'
import { serve, type Served } from '../src/http/serve.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let served: Served
beforeAll(async () => {
  registry = await openTestRegistry()
  served = await serve(createApp(registry.deps), { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await served.close(0)
  await registry.close()
})

/** Sends bytes over a socket and answers with all that comes back. */
function speak(text: string, options: { readonly slowly?: boolean } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(served.port, '127.0.0.1')
    let answer = ''
    socket
      .on('data', (chunk) => (answer += chunk))
      .on('close', () => resolve(answer))
      .on('error', reject)
    socket.write(text)
    if (options.slowly !== true) setTimeout(() => socket.end(), 1500)
  })
}
const envelopeOf = (answer: string): { ok: boolean; error: { code: string } } => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))

describe('the edges of HTTP', () => {
  it('404 NOT_FOUND: a route that is none, and 401 before that without a key', async () => {
    const unknown = await registry.send('GET', '/v1/nothing')
    expect([unknown.status, unknown.body.error?.code]).toEqual([404, 'NOT_FOUND'])
    expect((await registry.send('GET', '/v1/nothing', { key: null })).body.error?.code).toBe('UNAUTHENTICATED')
  })
  it('405 METHOD_NOT_ALLOWED: names the methods there are', async () => {
    const reply = await registry.send('PUT', '/v1/skills')
    expect([reply.status, reply.body.error?.code, reply.headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'GET, POST'])
  })
  it('413 TOO_LARGE: by its announced length, and by counting', async () => {
    const large = JSON.stringify({ requires: { a: 'x'.repeat(1024 * 1024) } })
    const counted = await registry.send('POST', '/v1/resolve', { raw: large, headers: { 'content-type': 'application/json' } })
    expect([counted.status, counted.body.error?.code]).toEqual([413, 'TOO_LARGE'])
    const announced = await speak(
      `POST /v1/resolve HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${registry.adminKey}\r\ncontent-type: application/json\r\ncontent-length: 99999999\r\n\r\n`,
    )
    expect([announced.slice(0, 12), envelopeOf(announced).error.code]).toEqual(['HTTP/1.1 413', 'TOO_LARGE'])
  })
  it('415 UNSUPPORTED_MEDIA_TYPE', async () => {
    const reply = await registry.send('POST', '/v1/resolve', {
      raw: 'requires=x',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect([reply.status, reply.body.error?.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })
  it('431 HEADERS_TOO_LARGE and 400 INVALID_REQUEST: what Node itself refuses is an envelope too', async () => {
    const large = await speak(`GET /v1/skills HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`)
    expect([large.slice(0, 12), envelopeOf(large).error.code]).toEqual(['HTTP/1.1 431', 'HEADERS_TOO_LARGE'])
    const broken = await speak('NONSENSE\r\n\r\n')
    expect([broken.slice(0, 12), envelopeOf(broken).error.code]).toEqual(['HTTP/1.1 400', 'INVALID_REQUEST'])
  })
  it('answers without a Host, and whatever else is odd, in an envelope', async () => {
    expect((await speak('GET /healthz HTTP/1.0\r\n\r\n')).slice(0, 12)).toBe('HTTP/1.1 200')
    for (const text of [
      'GET /v1/skills HTTP/1.1\r\n\r\n',
      'GET /v1/skills HTTP/1.1\r\nhost: a b\r\n\r\n',
      'GET /v1/skills HTTP/1.1\r\nhost: x\r\nexpect: magic\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n',
    ]) {
      const answer = await speak(text)
      expect([text, answer.slice(9, 10), envelopeOf(answer).ok]).toEqual([text, '4', false])
    }
  })
  it('400 INVALID_REQUEST: U+0000 and prototype keys, wherever they stand', async () => {
    for (const [method, path, body] of [
      ['GET', '/v1/calls?skill=%00', undefined],
      ['GET', '/v1/skills?__proto__=1', undefined],
      ['DELETE', '/v1/connections/%00', undefined],
      ['POST', '/v1/skills/%00/versions/%00/release', { reason: 'a long reason' }],
      ['GET', '/v1/calls?to=0000-01-01T00:00:00Z', undefined],
    ] as const) {
      const reply = await registry.send(method, path, body === undefined ? {} : { body })
      expect([path, reply.status, reply.body.error?.code]).toEqual([path, 400, 'INVALID_REQUEST'])
    }
    const raw = await registry.send('POST', '/v1/resolve', {
      raw: '{"requires":{"__proto__":"^1"}}',
      headers: { 'content-type': 'application/json' },
    })
    expect([raw.status, registry.bugs]).toEqual([400, []])
  })
  it('403 ROLE_REQUIRED: whoever may not ask is told before the body is looked at', async () => {
    const key = await registry.agent('poor')
    const zip = await registry.send('POST', '/v1/skills', { key, raw: 'no archive', headers: { 'content-type': 'application/zip' } })
    const agent = await registry.send('POST', '/v1/agents', { key, raw: '{', headers: { 'content-type': 'application/json' } })
    expect([zip.body.error?.code, agent.body.error?.code]).toEqual(['ROLE_REQUIRED', 'ROLE_REQUIRED'])
  })
  it('408 REQUEST_TIMEOUT: headers that never end are ended', async () => {
    const started = performance.now()
    const slow = await speak('GET /v1/skills HTTP/1.1\r\nhost: x\r\n', { slowly: true })
    expect([slow.slice(0, 12), envelopeOf(slow).error.code]).toEqual(['HTTP/1.1 408', 'REQUEST_TIMEOUT'])
    expect(performance.now() - started).toBeLessThan(4 * 6000)
  })
  it('400 INVALID_REQUEST: JSON that is too deep, or holds a key twice', async () => {
    for (const raw of [`{"requires":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`, '{"requires":{},"requires":{}}']) {
      const reply = await registry.send('POST', '/v1/resolve', { raw, headers: { 'content-type': 'application/json' } })
      expect([reply.status, reply.body.error?.code]).toEqual([400, 'INVALID_REQUEST'])
    }
  })
  it('a body of a deeply nested array costs no stack', async () => {
    const reply = await registry.send('POST', '/v1/resolve', { raw: '['.repeat(500_000), headers: { 'content-type': 'application/json' } })
    expect([reply.status, registry.bugs]).toEqual([400, []])
  })
  it('the service routes need no key and tell no secret', async () => {
    const health = await registry.send('GET', '/healthz', { key: null })
    const ready = await registry.send('GET', '/readyz', { key: null })
    const docs = await registry.send('GET', '/docs', { key: null })
    expect([health.status, ready.status, docs.status, ready.text]).toEqual([200, 200, 200, expect.stringContaining('"ready":true')])
    expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect((await registry.send('GET', '/metrics', { key: null })).status).toBe(401)
  })
  it('the OpenAPI document names every route, who may ask, and what it takes', async () => {
    const { paths } = JSON.parse((await registry.send('GET', '/openapi.json', { key: null })).text)
    for (const endpoint of Object.values(endpoints)) {
      const operation = paths[endpoint.path]?.[endpoint.method.toLowerCase()]
      expect([endpoint.path, operation?.['x-access'], operation?.summary]).toEqual([endpoint.path, endpoint.access, endpoint.summary])
    }
  })
  it('every route but those for anyone answers 401 without a key', async () => {
    for (const endpoint of Object.values(endpoints)) {
      const reply = await registry.send(endpoint.method, endpoint.path.replace(/\{\w+\}/g, 'x'), { key: null })
      expect([endpoint.path, reply.status === 401]).toEqual([endpoint.path, endpoint.access !== 'anyone'])
    }
  })
})
