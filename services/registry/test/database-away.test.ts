import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let proxy: TcpProxy
let registry: TestRegistry
let key: string
beforeAll(async () => {
  proxy = await openTcpProxy(inject('postgresUrl'))
  registry = await openTestRegistry({}, proxy.through)
  await registry.publish({ name: 'steady-one' })
  await registry.release('steady-one', '1.0.0')
  await registry.publish({ name: 'write-one', front: 'permission: []\neffects: once' })
  await registry.release('write-one', '1.0.0')
  key = await registry.agent('reader')
  proxy.cut()
})
afterAll(async () => {
  await registry.close()
  proxy.close()
})

const timed = async <T>(work: Promise<T>): Promise<readonly [T, number]> => {
  const started = performance.now()
  return [await work, performance.now() - started]
}

describe('while the database is away', () => {
  it('200: list, describe and resolve answer from the catalogue at hand', async () => {
    const list = await registry.send('GET', '/v1/skills', { key })
    const skill = await registry.send('GET', '/v1/skills/steady-one', { key })
    const resolved = await registry.send('POST', '/v1/resolve', { key, body: { requires: { 'steady-one': '^1' } } })
    expect([list.status, skill.status, resolved.body.data.resolved['steady-one'].version]).toEqual([200, 200, '1.0.0'])
  })
  it('503 UNAVAILABLE: management says so, soon and without detail', async () => {
    const [reply, ms] = await timed(registry.send('POST', '/v1/agents', { body: { id: 'late', name: 'x' } }))
    expect([reply.status, reply.body.error?.code, reply.headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '2'])
    expect([ms < 4 * 6000, reply.text]).toEqual([true, expect.not.stringMatching(/ECONN|127\.0\.0\.1|postgres/)])
  })
  it('503 LOG_UNAVAILABLE: a call is not acknowledged, and says that it may have had its effect', async () => {
    const [reply, ms] = await timed(registry.send('POST', '/v1/skills/steady-one/calls', { key, body: {} }))
    // For a moment after a failure nothing is carried out at all; then one call finds out whether it is over.
    const atOnce = await registry.send('POST', '/v1/skills/write-one/calls', { key, body: {} })
    expect([atOnce.body.error?.code, atOnce.body.error?.effect, registry.executions.length]).toEqual(['LOG_UNAVAILABLE', 'none', 1])
    await new Promise((resolve) => setTimeout(resolve, 1100))
    const writing = await registry.send('POST', '/v1/skills/write-one/calls', { key, body: {} })
    expect([reply.status, reply.body.error?.code, reply.body.error?.effect, reply.body.data]).toEqual([
      503,
      'LOG_UNAVAILABLE',
      'none',
      null,
    ])
    expect([writing.status, writing.body.error?.code, writing.body.error?.effect]).toEqual([503, 'LOG_UNAVAILABLE', 'done'])
    expect(ms).toBeLessThan(4 * 6000)
  })
  it('heals when the database is back', async () => {
    await proxy.mend()
    await expect
      .poll(async () => (await registry.send('POST', '/v1/skills/steady-one/calls', { key, body: {} })).status, { timeout: 8000 })
      .toBe(200)
    expect((await registry.send('POST', '/v1/agents', { body: { id: 'back', name: 'x' } })).status).toBe(201)
    expect(registry.bugs).toEqual([])
  })
})
