import { spawnSync } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRunner, type OpenRunner } from './open-runner.ts'

let runner: OpenRunner
beforeAll(async () => {
  runner = await openRunner()
})
afterAll(() => runner.close())

describe('a run', () => {
  it('carries out JavaScript, TypeScript and Python', async () => {
    expect(await runner.run('skill.js', 'export const run = ({ n }) => ({ twice: n * 2 })', { args: { n: 2 } })).toMatchObject({
      kind: 'result',
      json: '{"twice":4}',
    })
    expect(
      await runner.run('skill.ts', 'type In = { n: number }\nexport async function run({ n }: In): Promise<number> { return n + 1 }', {
        args: { n: 2 },
      }),
    ).toMatchObject({ kind: 'result', json: '3' })
    expect(
      await runner.run('skill.py', 'def run(arguments, ctx):\n    return {"name": arguments["name"], "skill": ctx.skill}', {
        args: { name: 'ü🤖' },
      }),
    ).toMatchObject({ kind: 'result', json: '{"name": "ü🤖", "skill": "some-skill"}' })
  })
  it('finds the function by name, by default export, and by registration in Python', async () => {
    for (const [entry, code] of [
      ['skill.js', 'export default () => 1'],
      ['skill.js', 'export const someSkill = () => 1'],
      ['skill.py', 'from repertoire import skill\n@skill\ndef anything(a, ctx):\n    return 1'],
      [
        'skill.py',
        'from repertoire import register\n@register("some-skill")\ndef anything(a):\n    return {"ok": True, "data": 1, "error": None, "meta": {}}',
      ],
      ['skill.py', 'def some_skill(n=1):\n    return n'],
    ] as const)
      expect([code, await runner.run(entry, code)]).toEqual([code, expect.objectContaining({ kind: 'result', json: '1' })])
  })
  it('tells a refusal of the skill from a failure', async () => {
    expect(
      await runner.run('skill.js', "export const run = (a, ctx) => ctx.refuse('ORDER_NOT_FOUND', 'No such order.', { retryable: true })"),
    ).toMatchObject({ kind: 'skill_error', code: 'ORDER_NOT_FOUND', message: 'No such order.', retryable: true })
    expect(await runner.run('skill.py', 'def run(a, ctx):\n    ctx.refuse("NOPE", "No.")')).toMatchObject({
      kind: 'skill_error',
      code: 'NOPE',
    })
    expect(
      await runner.run('skill.js', "export const run = () => ({ ok: false, error: { code: 'MINE', message: 'Mine.' } })"),
    ).toMatchObject({ kind: 'skill_error', code: 'MINE' })
    expect(await runner.run('skill.js', 'export const run = () => ({ ok: true, data: { a: 1 }, error: null })')).toMatchObject({
      kind: 'result',
      json: '{"a":1}',
    })
  })
  it.each([
    ['skill.js', 'export const run = (', 'syntax_error'],
    ['skill.ts', 'export const run = (: number', 'syntax_error'],
    ['skill.py', 'def run(:', 'syntax_error'],
    ['skill.js', 'export const other = 1', 'missing_export'],
    ['skill.py', 'x = 1', 'missing_export'],
    ['skill.js', 'export const run = () => { throw new Error("boom") }', 'threw'],
    ['skill.py', 'def run(a, c):\n    raise ValueError("boom")', 'threw'],
    ['skill.js', 'throw new Error("at load"); export const run = 1', 'threw'],
    ['skill.js', 'export const run = () => undefined', 'not_json'],
    ['skill.js', 'export const run = () => 1n', 'not_json'],
    ['skill.js', 'export const run = () => ({ n: 0 / 0 })', 'not_json'],
    ['skill.py', 'def run(a, c):\n    return {1, 2}', 'not_json'],
    ['skill.py', 'def run(a, c):\n    return float("nan")', 'not_json'],
    ['skill.js', 'export const run = () => process.exit(3)', 'killed'],
    ['skill.py', 'import os\ndef run(a, c):\n    os.kill(os.getpid(), 9)', 'killed'],
  ])('%s: %s fails as %s', async (entry, code, reason) => {
    expect(await runner.run(entry, code)).toMatchObject({ kind: 'failed', reason })
  })
  it('tells the caller what broke and no path of this machine', async () => {
    for (const [entry, code] of [
      ['skill.js', 'export const run = () => { throw new TypeError("boom") }'],
      ['skill.js', 'import "./missing.js"'],
      ['skill.py', 'def run(a, c):\n    raise ValueError("boom")'],
      ['skill.py', 'import nothing_like_this'],
      ['skill.js', 'export const run = () => { console.error(import.meta.url); process.exit(1) }'],
    ] as const) {
      const result = await runner.run(entry, code)
      expect([result.kind, JSON.stringify(result)]).toEqual([
        'failed',
        expect.not.stringMatching(/\/(tmp|root|usr|work|home)\b|harness|at run/),
      ])
    }
  })
  it('brings half a character back as it was', async () => {
    expect(await runner.run('skill.py', 'def run(a, c):\n    return "\\ud800x"')).toMatchObject({
      kind: 'result',
      json: String.raw`"\ud800x"`,
    })
  })
  it('is ended at its deadline with everything it started', async () => {
    const marker = `sleep-${process.pid}-7531`
    const started = performance.now()
    const loop = await runner.run('skill.js', 'export const run = () => { for (;;); }', { timeoutMs: 300 })
    const child = await runner.run(
      'skill.py',
      `import subprocess, time\ndef run(a, c):\n    subprocess.Popen(["python3", "-c", "import time; time.sleep(60)", "${marker}"])\n    time.sleep(60)`,
      { timeoutMs: 800 },
    )
    expect([loop, child].map((result) => result.kind === 'failed' && result.reason)).toEqual(['timeout', 'timeout'])
    expect(performance.now() - started).toBeLessThan(4 * 1100 + 4000)
    expect(spawnSync('pgrep', ['-f', marker]).stdout.toString()).toBe('')
  })
  it('says whether anything can have been done before the skill said no', async () => {
    const refusal = "await ctx.files('elsewhere').read('x')"
    const refused = await runner.run('skill.js', `export const run = async (a, ctx) => { ${refusal} }`, { tags: ['fs:write'] })
    const after = await runner.run(
      'skill.js',
      `export const run = async (a, ctx) => { await ctx.files('workspace').write('done.txt', 'x'); ${refusal} }`,
      { tags: ['fs:write'] },
    )
    const own = await runner.run('skill.py', 'def run(a, ctx):\n    ctx.refuse("NO", "No.", details=None)')
    expect([refused, after, own].map((result) => result.kind === 'skill_error' && `${result.code} ${result.effect}`)).toEqual([
      'MOUNT_NOT_OPEN none',
      'MOUNT_NOT_OPEN possible',
      'NO possible',
    ])
  })
  it('gets a large answer of the host whole', async () => {
    const code =
      "export const run = async (a, ctx) => { const f = ctx.files('workspace'); await f.write('big', 'ä'.repeat(4e6)); return (await f.read('big')).bytes.length }"
    expect(await runner.run('skill.js', code, { tags: ['fs'] })).toMatchObject({ kind: 'result', json: '8000000' })
  })
  it('may print as it likes: what it prints is not its answer', async () => {
    expect(
      await runner.run('skill.js', 'console.log("x".repeat(1e6)); export const run = () => { process.stderr.write("y"); return 1 }'),
    ).toMatchObject({ kind: 'result', json: '1' })
    expect(await runner.run('skill.py', 'import sys\ndef run(a, c):\n    print("x" * 1000000)\n    return 1')).toMatchObject({
      kind: 'result',
      json: '1',
    })
  })
  it('answers no more than it may', async () => {
    expect(await runner.run('skill.js', 'export const run = () => "x".repeat(5e6)', { maxResultBytes: 1000 })).toMatchObject({
      kind: 'failed',
      reason: 'too_large',
    })
    expect(await runner.run('skill.js', 'export const run = () => "x".repeat(2000)', { maxResultBytes: 1000 })).toMatchObject({
      kind: 'failed',
      reason: 'too_large',
    })
  })
  it('gets no environment of ours', async () => {
    process.env['REPERTOIRE_TEST_SECRET'] = 'do-not-leak'
    const seen = await runner.run('skill.js', 'export const run = () => process.env')
    delete process.env['REPERTOIRE_TEST_SECRET']
    expect([seen.kind, JSON.stringify(seen)]).toEqual(['result', expect.not.stringContaining('do-not-leak')])
  })
  it('says so when the interpreter is not there', async () => {
    const without = await openRunner({ python: 'no-such-python' })
    expect(await without.run('skill.py', 'def run(a, c): return 1')).toMatchObject({ kind: 'failed', reason: 'interpreter_missing' })
    await without.close()
  })
  it('waits for a place until its deadline, and is busy then', async () => {
    const narrow = await openRunner({ processes: 1 })
    const code = 'export const run = () => new Promise((resolve) => setTimeout(() => resolve(1), 600))'
    const results = await Promise.all([
      narrow.run('skill.js', code),
      narrow.run('skill.js', code),
      narrow.run('skill.js', `${code} // other`, { timeoutMs: 100 }),
    ])
    expect(results.filter((result) => result.kind === 'result')).toHaveLength(2)
    expect(results[2]).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/busy|timeout/) })
    await narrow.close()
  })
  it('asks nobody for anything any more once it is over', async () => {
    let arrived = 0
    let gone = 0
    const slow = createServer((request) => {
      arrived += 1
      request.socket.once('close', () => (gone += 1))
    })
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
    const address = `127.0.0.1:${(slow.address() as AddressInfo).port}`
    const listed = await openRunner({ fetchAllow: new Set([address]) })
    const code = `export const run = (_, ctx) => ctx.fetch('http://${address}/', { method: 'POST', body: 'x', timeoutMs: 60_000 })`
    const result = await listed.run('skill.js', code, { tags: ['network'], timeoutMs: 600 })
    expect([result.kind === 'failed' && result.reason, arrived]).toEqual(['timeout', 1])
    await expect.poll(() => gone, { timeout: 2000 }).toBe(1)
    await listed.close()
    slow.close()
  })
  it('is not begun for whoever went away while it waited for a place', async () => {
    const narrow = await openRunner({ processes: 1 })
    const occupy = 'export const run = () => new Promise((resolve) => setTimeout(() => resolve(1), 800))'
    const write = `export const run = (_, ctx) => ctx.files('workspace').write('done.txt', 'x')`
    const first = narrow.run('skill.js', occupy)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const controller = new AbortController()
    const second = narrow.run('skill.js', write, { tags: ['fs:write'], signal: controller.signal }).catch(() => 'gone')
    await new Promise((resolve) => setTimeout(resolve, 200))
    controller.abort()
    expect([await second, await first]).toMatchObject(['gone', { kind: 'result', json: '1' }])
    // Whoever waits now has the place behind it.
    expect(await narrow.run('skill.js', 'export const run = () => 2')).toMatchObject({ kind: 'result', json: '2' })
    expect(await readdir(narrow.mount)).toEqual([])
    await narrow.close()
  })
  it('asks for code it does not have, and refuses what is no request', async () => {
    const request = {
      code_digest: `sha256:${'0'.repeat(64)}`,
      entry: 'skill.js',
      skill: 's',
      tags: [],
      arguments: {},
      timeout_ms: 100,
      max_result_bytes: 10,
      call_id: 'c',
      traceparent: null,
    }
    expect((await runner.post('/runs', request)).body).toMatchObject({ kind: 'failed', reason: 'code_absent' })
    expect([(await runner.post('/runs', {})).status, (await runner.post('/other', {})).status]).toEqual([400, 404])
  })
})
