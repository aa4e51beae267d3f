import { describe, expect, it } from 'vitest'
import { TagClasses } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import { createRateLimit } from '../src/http/rate-limit.ts'
import { openTestRegistry } from './support/test-registry.ts'
import { createHash } from 'node:crypto'

describe('the limit of requests', () => {
  it('429 RATE_LIMITED: an agent that asks too often, and nobody else; a rollback always gets through', async () => {
    const registry = await openTestRegistry({
      settings: {
        replica: 'test',
        allowUnsandboxed: true,
        installSecret: createHash('sha256').update('test').digest(),
        staleLimitMs: 900_000,
        agentRate: 10,
        tagClasses: TagClasses.parse({}),
      },
    })
    const busy = await registry.agent('busy')
    const calm = await registry.agent('calm')
    const replies = []
    for (let n = 0; n < 60; n += 1) replies.push(await registry.send('GET', '/v1/agents/self', { key: busy }))
    const refused = replies.filter((reply) => reply.status === 429)
    expect([refused.length > 20, refused[0]?.body.error?.code, refused[0]?.headers.get('retry-after')]).toEqual([true, 'RATE_LIMITED', '1'])
    expect((await registry.send('GET', '/v1/agents/self', { key: calm })).status).toBe(200)
    for (let n = 0; n < 200; n += 1) await registry.send('GET', '/v1/agents/self')
    expect((await registry.send('GET', '/v1/agents/self')).status).toBe(429)
    const rollback = await registry.send('POST', '/v1/rollouts/01980000-0000-7000-8000-000000000000/rollback', {
      body: { reason: 'a test tries it' },
    })
    expect(rollback.body.error?.code).toBe('NOT_FOUND')
    const strangers = []
    for (let n = 0; n < 60; n += 1) strangers.push((await registry.send('GET', '/v1/skills', { key: 'nonsense' })).status)
    expect([strangers[0], strangers.at(-1)]).toEqual([401, 429])
    await registry.close()
  })
  it('lets through exactly the rate and the burst, whatever the pattern of requests', () => {
    const limit = createRateLimit({ perSecond: 10, burst: 20 }, 'x')
    const pass = (at: number): boolean => {
      try {
        limit.take('a', at)
        return true
      } catch (error) {
        if (error instanceof Refusal) return false
        throw error
      }
    }
    let passed = 0
    for (let at = 0; at < 10_000; at += 7) if (pass(at)) passed += 1
    expect(passed).toBeGreaterThanOrEqual(119)
    expect(passed).toBeLessThanOrEqual(120)
    // After a clock that went back nothing is filled twice.
    expect([pass(5000), pass(4000)]).toEqual([false, false])
  })
  it('keeps a bounded number of buckets', () => {
    const limit = createRateLimit({ perSecond: 1, burst: 2 }, 'x')
    const before = process.memoryUsage().heapUsed
    for (let n = 0; n < 200_000; n += 1) limit.take(`address-${n}`, 1)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024)
  })
})
