import type { VersionRecord } from '@repertoire/core'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createSilentServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { versionOf } from '../../../packages/core/test/skill-fixture.ts'
import { serveRunner } from '../../runner/src/serve.ts'
import { createCodeExecutor } from '../src/executors/code-executor.ts'
import { createHttpExecutor } from '../src/executors/http-executor.ts'
import type { Execution, ExecutorResult } from '../src/ports.ts'

let upstream: Server
let folder: string
let handler: (request: IncomingMessage, response: ServerResponse, body: string) => void
const http = createHttpExecutor({ SHOP_TOKEN: 'from-env' })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'executors-'))
  upstream = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk)).on('end', () => handler(request, response, body))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await http.close()
  upstream.closeAllConnections()
  upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const baseUrl = (): string => `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/api/`
const version = (executor: { path: string; method: 'GET' | 'POST' }): VersionRecord => {
  const base = versionOf({ version: '1.0.0' })
  return { ...base, kind: 'http', manifest: { ...base.manifest, executor: { kind: 'http', connection: 'shop', ...executor } } }
}
const execution = (executor: { path: string; method: 'GET' | 'POST' }, change: Partial<Execution> = {}): Execution => ({
  callId: 'c',
  version: version(executor),
  connection: { name: 'shop', baseUrl: baseUrl(), headers: {}, createdAt: '' },
  arguments: { id: 'a/b', n: 1 },
  timeoutMs: 2000,
  maxResultBytes: 1_000_000,
  traceparent: '00-1-2-01',
  signal: null,
  onQueued: () => undefined,
  ...change,
})
const answer = (status: number, body: string, headers: Record<string, string> = {}): void =>
  void (handler = (_, response) => response.writeHead(status, headers).end(body))
const post = { path: '/orders', method: 'POST' } as const
const brief = (result: ExecutorResult): unknown =>
  result.kind === 'failed'
    ? `${result.code} ${result.reason}`
    : result.kind === 'result'
      ? Buffer.from(result.json).toString()
      : `${result.kind} ${result.code}`

describe('the http executor', () => {
  it('fills the path, sends the rest, adds credentials, and gives the body back as it is', async () => {
    let seen: unknown
    handler = (request, response, body) => {
      seen = [
        request.method,
        request.url,
        body,
        request.headers['authorization'],
        request.headers['x-file'],
        request.headers['traceparent'],
      ]
      response.end('{ "a": 1.0 }')
    }
    await writeFile(join(folder, 'token'), 'from-file\n')
    const connection = {
      name: 'shop',
      baseUrl: baseUrl(),
      createdAt: '',
      headers: { authorization: { env: 'SHOP_TOKEN' }, 'x-file': { file: join(folder, 'token') } },
    }
    expect(brief(await http.execute(execution({ path: '/orders/{id}', method: 'POST' }, { connection })))).toBe('{ "a": 1.0 }')
    expect(seen).toEqual(['POST', '/api/orders/a%2Fb', '{"n":1}', 'from-env', 'from-file', '00-1-2-01'])
    await http.execute(execution({ path: '/orders', method: 'GET' }))
    expect(seen).toMatchObject({ 0: 'GET', 1: '/api/orders?id=a%2Fb&n=1', 2: '' })
  })
  it('takes 204 for what it says: it went well, and there is nothing to tell', async () => {
    answer(204, '')
    expect(brief(await http.execute(execution(post)))).toBe('null')
  })
  it('knows an envelope of the skill: its refusal is a result, its data is the data', async () => {
    answer(409, '{"ok":false,"error":{"code":"SOLD_OUT","message":"None left.","retryable":true}}')
    expect(await http.execute(execution(post))).toMatchObject({
      kind: 'skill_error',
      code: 'SOLD_OUT',
      message: 'None left.',
      retryable: true,
    })
    answer(200, '{"ok":true, "data" : {"n":12345678901234567890,"z":1.0, "t":"}\\""} ,"error":null}')
    expect(brief(await http.execute(execution(post)))).toBe('{"n":12345678901234567890,"z":1.0, "t":"}\\""}')
  })
  it('never leaves the path it declares, nor lets an argument take the place of a fixed parameter', async () => {
    let asked = 0
    handler = (_, response) => {
      asked += 1
      response.end('{}')
    }
    for (const [path, args] of [
      ['/orders/{id}/{sub}', { id: '..', sub: 'admin' }],
      ['/orders/{id}', { id: '.' }],
      ['/orders/{id}', { id: '' }],
      ['/orders/{id}', {}],
      ['/search?tenant=acme', { tenant: 'evil' }],
    ] as const) {
      expect([path, brief(await http.execute(execution({ path, method: 'GET' }, { arguments: args })))]).toEqual([
        path,
        'INVALID_INPUT path_argument',
      ])
    }
    expect(asked).toBe(0)
    await http.execute(execution({ path: '/search?tenant=acme', method: 'GET' }, { arguments: { q: '../x' } }))
    expect(asked).toBe(1)
  })
  it('says what went wrong: status, not JSON, redirect, too large, late, unreachable, a credential that is not there', async () => {
    const results: unknown[] = []
    answer(500, 'secret stack trace')
    const failed = await http.execute(execution(post))
    expect(failed).toMatchObject({
      kind: 'failed',
      message: expect.not.stringContaining('secret'),
      details: [{ got: '500', message: 'secret stack trace' }],
    })
    answer(200, '<html>')
    results.push(brief(await http.execute(execution(post))))
    answer(302, '', { location: 'http://127.0.0.1:1/' })
    results.push(brief(await http.execute(execution(post))))
    answer(200, JSON.stringify('x'.repeat(2000)))
    results.push(brief(await http.execute(execution(post, { maxResultBytes: 1000 }))))
    handler = () => undefined
    results.push(brief(await http.execute(execution(post, { timeoutMs: 100 }))))
    results.push(
      brief(
        await http.execute(execution(post, { connection: { name: 'shop', baseUrl: 'http://127.0.0.1:1', headers: {}, createdAt: '' } })),
      ),
    )
    results.push(
      brief(
        await http.execute(
          execution(post, { connection: { name: 'shop', baseUrl: baseUrl(), headers: { a: { env: 'NOT_SET' } }, createdAt: '' } }),
        ),
      ),
    )
    expect(results).toEqual([
      'EXECUTOR_FAILED not_json',
      'EXECUTOR_FAILED upstream_status',
      'EXECUTOR_FAILED too_large',
      'TIMEOUT deadline',
      'EXECUTOR_UNREACHABLE network',
      'EXECUTOR_FAILED credential_missing',
    ])
  })
})

describe('a connection that does not come about', () => {
  it('ends at the deadline, not when the client gives it up', async () => {
    // It takes the line and never says a word, so that no secure connection comes of it.
    const silent = createSilentServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const connection = { name: 'silent', baseUrl, headers: {}, createdAt: '' }
    const began = performance.now()
    const late = brief(await http.execute(execution(post, { connection, timeoutMs: 200 })))
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 200)
    const ended = brief(await http.execute(execution(post, { connection, timeoutMs: 60_000, signal: controller.signal })))
    silent.close()
    expect([late, ended, performance.now() - began < 2500]).toEqual(['TIMEOUT deadline', 'EXECUTOR_FAILED cancelled', true])
  })
})

describe('the code executor', () => {
  it('sends code the runner lacks, once, and brings back what it says', async () => {
    const config = {
      socketPath: join(folder, 'runner'),
      codeDir: join(folder, 'code'),
      mounts: new Map(),
      fetchAllow: new Set<string>(),
      smtp: undefined,
      processes: 2,
      python: 'python3',
      quiet: true,
    }
    const runner = await serveRunner(config)
    let sent = 0
    const code = createCodeExecutor(config.socketPath, async () => {
      sent += 1
      return new Map([
        ['skill.js', Buffer.from('export const run = ({ n }) => n < 0 ? new Promise(() => setInterval(() => {}, 1000)) : ({ n })')],
      ])
    })
    const codeVersion = { ...versionOf({ version: '1.0.0' }), digest: `sha256:${'a'.repeat(64)}` }
    const run = (n: number, timeoutMs = 5000): Promise<ExecutorResult> =>
      code.execute({
        callId: 'c',
        version: codeVersion,
        connection: undefined,
        arguments: { n },
        timeoutMs,
        maxResultBytes: 1000,
        traceparent: null,
        signal: null,
        onQueued: () => undefined,
      })
    expect([brief(await run(1)), brief(await run(2)), sent]).toEqual(['{"n":1}', '{"n":2}', 1])
    expect(brief(await run(-1, 300))).toBe('TIMEOUT timeout')
    await runner.close()
    // A request on a connection that was open is lost with it; the next finds nobody there.
    await run(3)
    expect(brief(await run(4))).toBe('EXECUTOR_UNREACHABLE runner')
    await code.close()
  })
  it('brings no more of what a skill says when it says no than an answer and a row can have', async () => {
    const config = {
      socketPath: join(folder, 'wordy-runner'),
      codeDir: join(folder, 'wordy-code'),
      mounts: new Map(),
      fetchAllow: new Set<string>(),
      smtp: undefined,
      processes: 1,
      python: 'python3',
      quiet: true,
    }
    const runner = await serveRunner(config)
    const source = `export const run = (_, ctx) => ctx.refuse('NO', 'x'.repeat(5_000_000), { details: Array(1000).fill('y'.repeat(5000)) })`
    const code = createCodeExecutor(config.socketPath, async () => new Map([['skill.js', Buffer.from(source)]]))
    const base = versionOf({ version: '1.0.0' })
    const wordy = { ...base, digest: `sha256:${'b'.repeat(64)}` }
    const said = await code.execute({ ...execution(post), version: wordy, connection: undefined, timeoutMs: 10_000 })
    await code.close()
    await runner.close()
    expect(said).toMatchObject({ kind: 'skill_error', code: 'NO' })
    expect(said.kind === 'skill_error' && [said.message.length, said.details.length, said.details[0]?.message?.length]).toEqual([
      1024, 20, 501,
    ])
  })
  it('says that nothing ran when the code could not be brought to the runner, for want of it or of time', async () => {
    const runner = await serveRunner({
      socketPath: join(folder, 'empty-runner'),
      codeDir: join(folder, 'empty-code'),
      mounts: new Map(),
      fetchAllow: new Set<string>(),
      smtp: undefined,
      processes: 1,
      python: 'python3',
      quiet: true,
    })
    let filesOf = (): Promise<ReadonlyMap<string, Uint8Array>> => Promise.reject(new Error('the database is away'))
    const code = createCodeExecutor(join(folder, 'empty-runner'), () => filesOf())
    const asked = { ...execution(post), version: { ...versionOf({ version: '1.0.0' }), digest: `sha256:${'c'.repeat(64)}` } }
    const absent = brief(await code.execute(asked))
    filesOf = async () => {
      await new Promise((resolve) => setTimeout(resolve, 150))
      return new Map([['skill.js', Buffer.from('export const run = () => 1')]])
    }
    const late = brief(await code.execute({ ...asked, timeoutMs: 100 }))
    await code.close()
    await runner.close()
    expect([absent, late]).toEqual(['EXECUTOR_FAILED code_absent', 'TIMEOUT before_start'])
  })
})
