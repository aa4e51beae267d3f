import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { forgetOnce } from '../src/log/forget-kept.ts'
import { openQuotas, type OpenQuotas } from '../src/log/quotas/open-quotas.ts'
import { openApplicationLog } from '../src/start/application-log.ts'
import { openDatabase, type Database } from '../src/store/connect.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

describe('three replicas that share a limit', () => {
  const databases: Database[] = []
  const quota = (
    perMinute: number,
  ): { id: string; agentId: string; skillKey: null; connection: null; perMinute: number; perDay: null } => ({
    id: registry.deps.ids.next(),
    agentId: 'ann',
    skillKey: null,
    connection: null,
    perMinute,
    perDay: null,
  })
  let nowMs = Date.parse('2026-03-01T12:00:00Z')
  const open = async (): Promise<OpenQuotas> => {
    const database = openDatabase(registry.databaseUrl)
    databases.push(database)
    const instance = registry.deps.ids.next()
    await registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision) values (${instance}::uuid, 'r', now(), now() + interval '1 hour', 1)`
    const logger = openApplicationLog({ level: 'silent', replica: 'r', redaction: registry.deps.redaction }, { write: () => undefined })
    return openQuotas({ log: database.log, instance, logger, now: () => nowMs, hasQuotas: () => false })
  }
  let replicas: readonly OpenQuotas[]
  beforeAll(async () => {
    replicas = [await open(), await open(), await open()]
    for (const replica of replicas) await replica.exchange()
  })
  afterAll(async () => {
    for (const replica of replicas) await replica.stop()
    for (const database of databases) await database.close()
  })
  const spend = (replica: OpenQuotas | undefined, of: ReturnType<typeof quota>, calls: number): number => {
    let spent = 0
    for (let index = 0; index < calls; index += 1) if (replica?.spend([of], nowMs).kind === 'spent') spent += 1
    return spent
  }
  it('all at once come to the limit, and not over it by more than one share', async () => {
    for (const limit of [1, 5, 90, 3000]) {
      nowMs += 60_000
      const of = quota(limit)
      let total = 0
      for (let round = 0; round < 12; round += 1) {
        for (const replica of replicas) total += spend(replica, of, limit)
        await Promise.all(replicas.map((replica) => replica.exchange()))
      }
      expect([limit, total >= limit, total <= limit + Math.max(2, limit / 3)]).toEqual([limit, true, true])
      expect(replicas[1]?.used(of, 'minute', nowMs)).toBe(total)
    }
  })
  it('one alone comes to the whole of it, also after the others had a part', async () => {
    nowMs += 60_000
    const of = quota(300)
    let total = spend(replicas[1], of, 2) + spend(replicas[2], of, 7)
    for (const replica of replicas) await replica.exchange()
    for (let round = 0; round < 40; round += 1) {
      total += spend(replicas[0], of, 300)
      await replicas[0]?.exchange()
      if (round % 4 === 0) for (const replica of replicas) await replica.exchange()
    }
    expect([total >= 296, total <= 300]).toEqual([true, true])
  })
  it('hear of each other within moments of a burst, without anybody telling them to', async () => {
    nowMs += 60_000
    const of = quota(300)
    let total = 0
    await expect
      .poll(
        () => {
          total += spend(replicas[0], of, 20) + spend(replicas[2], of, 20)
          return total
        },
        { timeout: 10_000, interval: 30 },
      )
      .toBeGreaterThanOrEqual(290)
    const late = replicas[0]?.spend([of], nowMs + 30_000)
    expect([total <= 400, late?.kind]).toEqual([true, expect.stringMatching(/spent|exceeded/) as string])
  })
  it('says to come back soon while others rest on a part, and when the minute is over once all is spent', async () => {
    nowMs += 60_000
    const of = quota(90)
    const wait = (): number => {
      const outcome = replicas[0]?.spend([of], nowMs)
      return outcome?.kind === 'exceeded' ? outcome.retryAfterMs : 0
    }
    spend(replicas[0], of, 90)
    expect(wait()).toBe(1000)
    for (let round = 0; round < 30; round += 1) {
      await replicas[0]?.exchange()
      spend(replicas[0], of, 90)
    }
    expect(wait()).toBe(60_000 - (nowMs % 60_000))
  })
  it('what a replica that stops has not spent is there for the others', async () => {
    nowMs += 60_000
    const of = quota(90)
    const leaving = await open()
    await leaving.exchange()
    spend(leaving, of, 3)
    await leaving.exchange()
    await leaving.stop()
    await registry.sql`update replicas set left_at = now() where instance = (select max(instance::text)::uuid from replicas where name = 'r')`
    let total = 3
    for (let round = 0; round < 40; round += 1) {
      total += spend(replicas[0], of, 90)
      await replicas[0]?.exchange()
    }
    expect(total).toBe(90)
  })
  it('are forgotten a while after their minute or day', async () => {
    const id = registry.deps.ids.next()
    const since = (minutes: number): number => Date.now() - minutes * 60_000
    for (const [span, start] of [
      ['minute', since(9)],
      ['minute', since(11)],
      ['day', since(47 * 60)],
      ['day', since(49 * 60)],
    ] as const)
      await registry.sql`insert into quota_shares values (${id}::uuid, ${span}, ${start}, ${id}::uuid, 1, 1)`
    await forgetOnce(registry.sql)
    const left = await registry.sql`select span from quota_shares where quota_id = ${id}::uuid order by span`
    expect(left.map((row) => row['span'] as string)).toEqual(['day', 'minute'])
  })
  it('keep to their parts of it when the database was away for a while', async () => {
    nowMs += 60_000
    const of = quota(90)
    // One that left was there a moment ago, and whoever has not asked since still counts it.
    for (const replica of replicas) await replica.exchange()
    await registry.sql`alter table quota_shares rename to quota_shares_away`
    const first = replicas.map((replica) => spend(replica, of, 90))
    for (const replica of replicas) await expect(replica.exchange()).rejects.toThrow(/quota_shares/)
    expect(replicas.map((replica) => spend(replica, of, 90))).toEqual([0, 0, 0])
    await pause(12_500)
    const parts = replicas.map((replica, index) => spend(replica, of, 90) + (first[index] ?? 0))
    await registry.sql`alter table quota_shares_away rename to quota_shares`
    // The registry that this test opened is the fourth.
    expect([first, parts]).toEqual([
      [5, 5, 5],
      [22, 22, 22],
    ])
    for (const replica of replicas) await replica.exchange()
    expect(replicas[2]?.used(of, 'minute', nowMs)).toBe(66)
  })
})
