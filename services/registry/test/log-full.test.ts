import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let proxy: TcpProxy
let registry: TestRegistry
let key: string
const acknowledged: string[] = []
beforeAll(async () => {
  proxy = await openTcpProxy(inject('postgresUrl'))
  registry = await openTestRegistry({}, proxy.through, 16 * 1024 * 1024)
  for (const [name, effects] of [
    ['look-up', 'read'],
    ['pay-once', 'once'],
    ['pay-again', 'idempotent'],
  ] as const) {
    await registry.publish({ name, front: `permission: []\neffects: ${effects}` })
    await registry.release(name, '1.0.0')
  }
  key = await registry.agent('caller')
  registry.execute(() => ({ kind: 'result', json: Buffer.from(JSON.stringify({ text: 'x'.repeat(60_000) })) }))
  proxy.cut()
})
afterAll(async () => {
  await registry.close()
  proxy.close()
})

describe('a call log that can take no more', () => {
  it('503 LOG_UNAVAILABLE: the call that finds it full is told what it may have done, and the next are not carried out', async () => {
    const call = (name: string): ReturnType<TestRegistry['send']> =>
      registry.send('POST', `/v1/skills/${name}/calls`, { key, body: { arguments: { text: 'y'.repeat(60_000) } } })
    let reply = await call('pay-again')
    while (reply.status === 200 && acknowledged.length < 400) {
      acknowledged.push(String(reply.body.meta.call_id))
      reply = await call('pay-again')
    }
    const carriedOut = registry.executions.length
    expect([reply.status, reply.body.error?.code, reply.body.error?.effect, reply.body.error?.next]).toEqual([
      503,
      'LOG_UNAVAILABLE',
      'done',
      'retry',
    ])
    expect([reply.headers.get('retry-after'), acknowledged.length > 50]).toEqual(['2', true])
    for (const name of ['look-up', 'pay-once', 'pay-again']) {
      const next = await call(name)
      expect([name, next.body.error?.code, next.body.error?.effect]).toEqual([name, 'LOG_UNAVAILABLE', 'none'])
    }
    // What happens once tells the log before it does anything, so that it need not even be known that the log is full.
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const once = await call('pay-once')
    expect([once.body.error?.code, once.body.error?.effect, registry.executions.length]).toEqual(['LOG_UNAVAILABLE', 'none', carriedOut])
    expect((await registry.send('GET', '/v1/skills', { key })).status).toBe(200)
  })
  it('200: with the database back it takes calls again, and has every one it had acknowledged', async () => {
    await proxy.mend()
    await expect
      .poll(async () => (await registry.send('POST', '/v1/skills/look-up/calls', { key, body: {} })).status, { timeout: 15_000 })
      .toBe(200)
    await expect
      .poll(async () => (await registry.sql`select call_id from calls where call_id::text in ${registry.sql(acknowledged)}`).length, {
        timeout: 15_000,
      })
      .toBe(acknowledged.length)
    expect(registry.bugs).toEqual([])
  })
})
