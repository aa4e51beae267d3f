import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { Database, Pool } from '../src/store/connect.ts'
import { createGate } from '../src/store/gate.ts'
import { watchPools } from '../src/store/watch-pools.ts'

let stop = (): void => undefined
afterEach(() => stop())

/** A pool in which one piece of work is never answered while others come and go; answers with when it was replaced. */
async function busyAroundOneThatHangs(statementMs: number, lastFaultAt?: () => number): Promise<number | undefined> {
  const gate = createGate({ connections: 4, queue: 10, waitMs: 1000 })
  let resetAt: number | undefined
  const pool = { name: 'log', gate, statementMs, reset: () => ((resetAt ??= performance.now()), gate.forget()) } as unknown as Pool
  const database = { pools: [pool], probe: async () => true, relisten: () => undefined } as unknown as Database
  stop = watchPools(database, lastFaultAt === undefined ? {} : { lastFaultAt })
  const began = performance.now()
  const hangs = gate.run(() => new Promise<never>(() => undefined), Number.POSITIVE_INFINITY).catch((error: unknown) => error)
  while (resetAt === undefined && performance.now() - began < 4000) {
    await gate.run(async () => undefined)
    await pause(20)
  }
  if (resetAt === undefined) return undefined
  expect(await hangs).toMatchObject({ code: 'UNAVAILABLE' })
  return resetAt - began
}

describe('a pool in which one piece of work hangs while others are answered', () => {
  it('is replaced once that is there for longer than any work can take', async () => {
    const tookMs = await busyAroundOneThatHangs(100)
    expect(tookMs).toBeGreaterThan(1500)
  })
  it('is replaced sooner where the driver may have lost it', async () => {
    const faultAt = performance.now() + 50
    expect(await busyAroundOneThatHangs(1000, () => faultAt)).toBeGreaterThan(1500)
  })
  it('is left alone as long as what is inside may come out', async () => {
    expect(await busyAroundOneThatHangs(1000)).toBeUndefined()
  })
})
