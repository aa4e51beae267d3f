import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let proxy: TcpProxy
let registry: TestRegistry
let key: string
const acknowledged: string[] = []
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
  it('200: calls are carried out and their rows wait on disk; nothing is lost and nothing is there twice', async () => {
    const replies = await Promise.all(
      ['steady-one', 'write-one', 'steady-one'].map((name) => registry.send('POST', `/v1/skills/${name}/calls`, { key, body: {} })),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 200, 200])
    const log = await registry.send('GET', '/v1/calls', { key })
    expect([log.status, log.body.error?.code]).toEqual([503, 'UNAVAILABLE'])
    acknowledged.push(...replies.map((reply) => String(reply.body.meta.call_id)))
  })
  it('heals when the database is back', async () => {
    await proxy.mend()
    await expect
      .poll(async () => (await registry.send('POST', '/v1/skills/steady-one/calls', { key, body: {} })).status, { timeout: 8000 })
      .toBe(200)
    await expect
      .poll(async () => (await registry.send('POST', '/v1/agents', { body: { id: 'back', name: 'x' } })).status, { timeout: 8000 })
      .toBe(201)
    await expect
      .poll(async () => (await registry.sql`select call_id from calls where call_id::text in ${registry.sql(acknowledged)}`).length, {
        timeout: 8000,
      })
      .toBe(3)
    expect(registry.bugs).toEqual([])
  })
})
