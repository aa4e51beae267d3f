import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { openTcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import type { Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
const call = (body: object = {}): Promise<Reply> => registry.send('POST', '/v1/skills/take-turns/calls', { key, body })

beforeAll(async () => {
  registry = await openTestRegistry()
  key = await registry.agent('caller')
  await registry.publish({ name: 'take-turns', front: 'permission: []\neffects: once\nconcurrency: 1\ntimeout_ms: 6000' })
  await registry.release('take-turns', '1.0.0')
})
afterAll(() => registry.close())
beforeEach(() => void (registry.executions.length = 0))

/** Holds the table of places for a while: questions to it hang, and are carried out after that. */
async function hang(ms: number): Promise<() => Promise<void>> {
  let isLocked: () => void = () => undefined
  const locked = new Promise<void>((resolve) => (isLocked = resolve))
  const held = registry.sql.begin(async (sql) => {
    await sql`lock table call_leases in access exclusive mode`
    isLocked()
    await pause(ms)
  })
  await locked
  return () => held.then(() => undefined)
}

describe('a place', () => {
  it('that was taken after its call had given up is free again long before its time', async () => {
    const over = await hang(700)
    const late = await call({ timeout_ms: 200 })
    expect([late.status, late.body.error?.effect]).toEqual([503, 'none'])
    await over()
    // Taken for nobody, it would be free after fifteen seconds.
    expect((await call({ timeout_ms: 5000 })).status).toBe(200)
  })
  it('whose question was on its way for seconds after its call had given up is free again, too', { timeout: 30_000 }, async () => {
    const proxy = await openTcpProxy(inject('postgresUrl'))
    const far = await openTestRegistry({}, proxy.through)
    const caller = await far.agent('far-caller')
    await far.publish({ name: 'be-far', front: 'permission: []\neffects: read\nconcurrency: 1\ntimeout_ms: 6000' })
    await far.release('be-far', '1.0.0')
    const ask = (timeout: number): Promise<Reply> =>
      far.send('POST', '/v1/skills/be-far/calls', { key: caller, body: { timeout_ms: timeout } })
    expect((await ask(5000)).status).toBe(200)
    await pause(500)
    // Of this one question the line loses a piece, which it sends again much later.
    proxy.delay(4500)
    const late = ask(250)
    await pause(150)
    proxy.delay(0)
    expect((await late).status).toBe(503)
    await pause(5000)
    expect((await ask(5000)).status).toBe(200)
    await far.close()
    proxy.close()
  })
  it('that could not be given back at once is given back when the database answers again', async () => {
    let over: () => Promise<void> = async () => undefined
    registry.execute(async () => {
      over = await hang(2500)
      return { kind: 'result', json: Buffer.from('{}') }
    })
    const first = call()
    await expect.poll(() => registry.executions.length).toBe(1)
    expect((await first).status).toBe(200)
    await over()
    registry.execute(async () => ({ kind: 'result', json: Buffer.from('{}') }))
    expect((await call({ timeout_ms: 5000 })).status).toBe(200)
    expect(await registry.sql`select 1 from call_leases where expires_at > now()`).toEqual([])
  })
})
