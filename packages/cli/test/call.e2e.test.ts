import { spawn } from 'node:child_process'
import { chmod, copyFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { greetPerson, inFolder } from './greet-person.ts'
import { readAdminKey, runCli, startRegistry, type Ran, type TestRegistry } from './registry-process.ts'

let registry: TestRegistry
let run: TestRegistry['run']
let bot: { readonly REPERTOIRE_KEY: string }
const json = <T = Record<string, unknown>>({ out }: Ran): T => JSON.parse(out) as T
const call = (params: string, ...more: string[]): Promise<Ran> => run(['call', 'greet-person', '--params', params, ...more], { env: bot })

beforeAll(async () => {
  registry = await startRegistry(inFolder('greet-person', greetPerson('1.0.0', '[greet:say]')))
  run = registry.run
})
afterAll(() => registry.stop())

describe('who may call', () => {
  it('begins with an agent and a key that stands alone on standard output', async () => {
    expect((await run(['agents', 'create', 'bot', '--name', 'A bot', '--quiet'])).code).toBe(0)
    const made = await run(['keys', 'create', 'bot', '--quiet'])
    expect(made).toEqual({ code: 0, out: expect.stringMatching(/^rep_agent_[0-9A-Za-z]{38}\n$/) as string, err: '' })
    bot = { REPERTOIRE_KEY: made.out.trim() }
    const told = await run(['keys', 'create', 'bot', '--expires-in-days', '3'])
    expect(told.out).toMatch(/^rep_agent_\w+\n$/)
    expect(told.err).toMatch(/^key [0-9a-f-]{36} of bot, good until .*; it is shown this once\n$/)
    expect((await run(['self'], { env: bot })).out).toMatch(/^agent +bot\nrole +agent\n/)
  })
  it('is denied without the tag, with the command that would grant it', async () => {
    const ran = await call('{"name":"Ada"}')
    expect([ran.code, ran.out, ran.err]).toEqual([
      4,
      '',
      expect.stringMatching(/greet:say.*\(PERMISSION_DENIED\)\n[^]*repertoire grant bot greet:say/),
    ])
  })
  it('is permitted by a grant, until it is taken back, and a denial beats it', async () => {
    expect((await run(['grant', 'bot', 'greet:say', '--reason', 'short'])).code).toBe(2)
    const granted = json<{ id: string }>(await run(['grant', 'bot', 'greet:say', '--reason', 'greets all day', '--json']))
    expect((await call('{"name":"Ada"}')).code).toBe(0)
    const denied = json<{ id: string; expires_at: string }>(
      await run(['deny', 'bot', 'greet:*', '--reason', 'not while we look', '--expires-at', '2099-01-01', '--json']),
    )
    expect(denied.expires_at).toBe('2099-01-01T00:00:00.000Z')
    expect((await call('{"name":"Ada"}')).code).toBe(4)
    expect((await run(['grants', 'bot'])).out).toMatch(/grant +greet:say .*greets all day\n.*deny +greet:\* .*not while we look\n$/)
    expect((await run(['revoke', 'bot', denied.id])).code).toBe(0)
    expect((await call('{"name":"Ada"}')).code).toBe(0)
    expect((await run(['revoke', 'bot', denied.id])).code).toBe(5)
    expect(granted.id).not.toBe(denied.id)
  })
  it('ends with a revoked key or a disabled agent', async () => {
    const { items } = json<{ items: { id: string; tail: string }[] }>(await run(['keys', 'list', 'bot', '--json']))
    const spare = items.find(({ tail }) => !bot.REPERTOIRE_KEY.endsWith(tail))
    expect((await run(['keys', 'revoke', 'bot', spare?.id ?? ''])).code).toBe(0)
    expect((await run(['agents', 'disable', 'bot'])).out).toBe('bot is disabled\n')
    expect((await call('{"name":"Ada"}')).code).toBe(4)
    expect((await run(['agents', 'enable', 'bot'])).out).toBe('bot is enabled\n')
    expect((await run(['agents', 'list'])).out).toMatch(/admin +admin +enabled[^]*bot +agent +enabled +A bot/)
    expect((await run(['agents', 'create', 'bot'])).code).toBe(6)
    expect((await run(['agents', 'list'], { env: bot })).code).toBe(4)
  })
})

describe('call', () => {
  it('prints the data on standard output, and which version answered on standard error', async () => {
    const ran = await call('{"name":"Ada"}')
    expect(ran.code).toBe(0)
    expect(json(ran)).toEqual({ greeting: 'Hello Ada' })
    expect(ran.err).toMatch(/^greet-person 1\.0\.0 \(stable\) answered in \d+ ms; call [0-9a-f-]{36}\n/)
  })
  it('takes its arguments from standard input and from a file', async () => {
    const piped = await run(['call', 'greet_person@^1', '--params', '-', '--meta', '--quiet'], { env: bot, input: '{"name": "Grüße"}' })
    expect(piped.err).toBe('')
    expect(json(piped)).toMatchObject({ data: { greeting: 'Hello Grüße' }, meta: { version: '1.0.0', via: 'stable', outcome: 'ok' } })
    const file = join(registry.folder, 'params.json')
    await writeFile(file, '{"name":"file"}')
    expect(json(await call(`@${file}`, '--json'))).toEqual({ greeting: 'Hello file' })
  })
  it('calls nothing on a dry run', async () => {
    expect(json(await call('{"name":"crash"}', '--dry-run'))).toMatchObject({
      would_call: { skill: 'greet-person', version: '1.0.0' },
      arguments: { name: 'crash' },
    })
  })
  it('ends with 3 and every place that is wrong when the arguments do not fit', async () => {
    const ran = await call('{"nam":"Ada"}')
    expect([ran.code, ran.out, ran.err]).toEqual([3, '', expect.stringMatching(/\(INVALID_INPUT\)\n {2}\/nam: .*→ rename nam to name\n/)])
    for (const params of ['{', '[]', '{"name":99999999999999999999}']) expect((await call(params)).code).toBe(3)
  })
  it('ends with 8 when the skill says no, and nothing the skill says steers the terminal', async () => {
    const ran = await call('{"name":"nobody"}')
    expect([ran.code, ran.out]).toEqual([8, ''])
    expect(ran.err).toContain(String.raw`repertoire: there is \x1b[31mnobody\x1b[0m to greet (NOBODY_THERE)`)
    expect(json(await call('{"name":"nobody"}', '--json'))).toMatchObject({
      error: { code: 'NOBODY_THERE', origin: 'skill', meta: { outcome: 'skill_error' } },
    })
  })
  it('ends with 9 when the skill breaks, and with 7 when it is too late', async () => {
    expect((await call('{"name":"crash"}')).code).toBe(9)
    const late = await call('{"name":"sleep"}', '--timeout-ms', '300')
    expect([late.code, late.err]).toEqual([7, expect.stringContaining('(TIMEOUT)')])
  })
  it('ends with 5 and 6 when the version is not the one asked for', async () => {
    expect((await run(['call', 'greet-person@^9', '--params', '{"name":"Ada"}'], { env: bot })).code).toBe(5)
    expect((await call('{"name":"Ada"}', '--expect-version', '0.1.0')).code).toBe(6)
    expect((await call('{"name":"Ada"}', '--session', 'séance 1', '--intent', 'to see', '--expect-version', '1.0.0')).code).toBe(0)
  })
  it('leaves a row in the log, whole on demand', async () => {
    const list = json<{ items: { call_id: string; session: string }[]; next_cursor: string }>(
      await run(['calls', '--since', '1h', '--skill', 'greet-person', '--outcome', 'ok', '--limit', '1', '--json']),
    )
    expect(list).toMatchObject({ items: [{ session: 'séance 1', intent: 'to see' }], next_cursor: expect.any(String) as string })
    const next = await run(['calls', '--since', '1h', '--limit', '1', '--cursor', list.next_cursor])
    expect([next.code, next.out]).toEqual([0, expect.stringMatching(/^TIME \(UTC\)[^]*greet-person/)])
    expect((await run(['calls', list.items[0]?.call_id ?? ''])).out).toMatch(/^call_id +[0-9a-f-]{36}\n[^]*\nsession +séance 1\n/)
    expect((await run(['calls', '--agent', 'admin'], { env: bot })).code).toBe(4)
    expect((await run(['calls', '--agent', 'nobody-at-all'])).err).toBe('no call in that window\n')
  })
})

describe('connections', () => {
  it('are named, listed and removed, and never hold a credential', async () => {
    expect(
      (await run(['connections', 'create', 'orders', 'https://orders.example.com', '--header', 'Authorization=env:ORDERS_TOKEN'])).code,
    ).toBe(0)
    expect((await run(['connections', 'list'])).out).toMatch(/orders +https:\/\/orders\.example\.com .*ORDERS_TOKEN/)
    expect((await run(['connections', 'create', 'x', 'https://x.example.com', '--header', 'Authorization=secret'])).code).toBe(2)
    expect((await run(['connections', 'create', 'Not Good', 'nowhere'])).code).toBe(3)
    expect((await run(['connections', 'remove', 'orders'])).code).toBe(0)
    expect((await run(['connections', 'remove', 'orders'])).code).toBe(5)
  })
})

describe('without a way to the registry', () => {
  it('no key is one sentence with the fix', async () => {
    const ran = await runCli(['list'])
    expect([ran.code, ran.out, ran.err]).toEqual([
      4,
      '',
      expect.stringMatching(/^repertoire: There is no key[^\n]*\n {2}hint: set REPERTOIRE_KEY[^\n]*\n$/),
    ])
  })
  it('a wrong key ends with 4', async () => {
    const key = await readAdminKey(registry)
    const wrong = `${key.slice(0, 12)}${key[12] === 'A' ? 'B' : 'A'}${key.slice(13)}`
    for (const REPERTOIRE_KEY of [wrong, 'rep_agent_nonsense', 'two words'])
      expect((await run(['list'], { env: { REPERTOIRE_KEY } })).code).toBe(4)
  })
  it('a key file others can read is refused', async () => {
    const file = join(registry.folder, 'open.key')
    await copyFile(registry.adminKeyFile, file)
    await chmod(file, 0o644)
    const ran = await run(['list', '--key-file', file])
    expect([ran.code, ran.err]).toEqual([4, expect.stringContaining(`chmod 600 ${file}`)])
    await chmod(file, 0o600)
    expect((await run(['list', '--key-file', file], { env: { REPERTOIRE_KEY_FILE: '' } })).code).toBe(0)
  })
  it('a registry that is away ends with 7, also as JSON', async () => {
    const ran = await run(['list', '--url', 'http://127.0.0.1:1', '--json'])
    expect([ran.code, json(ran), ran.err]).toEqual([
      7,
      { error: expect.objectContaining({ code: 'UNREACHABLE', origin: 'network' }) as unknown },
      '',
    ])
    expect((await run(['call', 'greet-person', '--url', 'http://127.0.0.1:1'])).code).toBe(7)
  })
  it('something else at that address ends with 7', async () => {
    const server = createServer((_request, response) => response.end('<h1>hello</h1>'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    expect((await run(['self', '--url', `http://127.0.0.1:${port}`])).err).toContain('does not speak as a registry does')
    server.close()
  })
  it('a misuse ends with 2, also as JSON', async () => {
    for (const args of [['frobnicate'], [], ['list', '--viev', 'names'], ['call'], ['list', '--url', 'nonsense'], ['keys', 'create', '..']])
      expect((await run(args)).code).toBe(2)
    expect(json(await run(['frobnicate', '--json']))).toMatchObject({ error: { code: 'USAGE', message: "unknown command 'frobnicate'" } })
    expect((await run(['list'], { env: { REPERTOIRE_KEYFILE: 'x' } })).err).toContain('REPERTOIRE_KEY_FILE is')
  })
  it('help and version need nothing', async () => {
    expect(await runCli(['--version'])).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string, err: '' })
    expect((await runCli(['help', 'call'])).out).toContain('Examples:')
  })
})

describe('the output', () => {
  it('may lose its reader without a word', async () => {
    const launcher = fileURLToPath(new URL('../bin/repertoire.js', import.meta.url))
    const child = spawn(process.execPath, [launcher, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (text: Buffer) => (err += text.toString()))
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect([code, err]).toEqual([0, ''])
  })
})
