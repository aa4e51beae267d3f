import { durationBucket, readHistogram } from '@repertoire/core'
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { foldOnce } from '../src/log/rollups/fold.ts'
import { settleOnce, type Standing } from '../src/log/settle-orphans.ts'
import { writeEntries } from '../src/log/write-entries.ts'
import type { LogEntry, NewCallRow } from '../src/stored.ts'
import { newRow } from './support/new-row.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let installId: string
beforeAll(async () => {
  registry = await openTestRegistry()
  installId = registry.deps.snapshot().installId
})
afterAll(() => registry.close())
beforeEach(async () => {
  await registry.sql`truncate calls, call_payloads, call_hours, call_days, agent_hours, agent_days, agent_skill_days, call_intents, call_unknowns, violation_days, rollout_units`
})

const row = (change: Partial<NewCallRow> = {}): NewCallRow =>
  newRow({ call_id: registry.deps.ids.next(), agent_id: 'a', skill: 's', version: '1.0.0', ...change })
const fold = async (): Promise<void> => {
  while ((await foldOnce(registry.sql, 7)) > 0);
}
const write = async (entries: readonly LogEntry[]): Promise<void> => {
  await writeEntries(registry.sql, entries, installId)
  await fold()
}
const intentOf = (of: NewCallRow, instance: string, spool = randomUUID()): LogEntry => ({
  row: of,
  intent: { kind: 'once', spool, instance },
})

const rollups = {
  call_hours: { grain: 'hour', keys: 'skill, version, arm, outcome, error_code' },
  call_days: { grain: 'day', keys: 'skill, version, arm, outcome, error_code' },
  agent_hours: { grain: 'hour', keys: 'agent_id, outcome, error_code' },
  agent_days: { grain: 'day', keys: 'agent_id, outcome, error_code' },
  agent_skill_days: { grain: 'day', keys: 'agent_id, skill, version, outcome, error_code' },
} as const
const tables = Object.keys(rollups) as (keyof typeof rollups)[]

/** What counting the rows themselves gives, to compare with what was counted after they were written. */
const recount = async (table: keyof typeof rollups): Promise<readonly object[]> => {
  const { grain, keys } = rollups[table]
  return registry.sql
    .unsafe(`select bucket, ${keys}, count(*)::int as calls, sum(attempts)::int as attempts, count(*) filter (where attempts > 1)::int as retried,
      round(sum(total_ms)::numeric, 3)::text as total_ms, sum(output_bytes)::int as output_bytes
    from (select date_trunc('${grain}', ts at time zone 'UTC') at time zone 'UTC' as bucket, skill, coalesce(version, '') as version, agent_id, coalesce(arm, '') as arm, outcome,
      coalesce(error_code, '') as error_code, attempts, total_ms, output_bytes from calls where not dry_run) as named
    group by bucket, ${keys} order by bucket, ${keys}`)
}
const counted = async (table: keyof typeof rollups): Promise<readonly object[]> => {
  const { keys } = rollups[table]
  return registry.sql.unsafe(
    `select bucket, ${keys}, calls::int, attempts::int, retried::int, round(total_ms::numeric, 3)::text as total_ms, output_bytes::int from ${table} where calls <> 0 ${table.startsWith('agent') ? "and agent_id <> ''" : ''} order by bucket, ${keys}`,
  )
}
const expectRecount = async (): Promise<void> => {
  for (const table of tables) expect([table, await counted(table)]).toEqual([table, await recount(table)])
  for (const table of ['agent_hours', 'agent_days']) {
    const sums = (whose: string): Promise<readonly object[]> =>
      registry.sql
        .unsafe(`select bucket, outcome, error_code, sum(calls)::int as calls, sum(attempts)::int as attempts, round(sum(total_ms)::numeric, 3)::text as total_ms, sum(histogram)::text as histogram
        from ${table} where agent_id ${whose} '' group by 1, 2, 3 having sum(calls) <> 0 order by 1, 2, 3`)
    expect(await sums('=')).toEqual(await sums('<>'))
  }
}

const rows = fc.array(
  fc.record({
    skill: fc.constantFrom('s', 't'),
    version: fc.constantFrom('1.0.0', '2.0.0', null),
    agent_id: fc.constantFrom('a', 'b'),
    outcome: fc.constantFrom('ok', 'timeout', 'denied'),
    attempts: fc.nat(3),
    total_ms: fc.double({ min: 0, max: 5000, noNaN: true }),
    output_bytes: fc.nat(1000),
    dry_run: fc.boolean(),
    hoursAgo: fc.nat(30),
  }),
  { minLength: 1, maxLength: 40 },
)

describe('what is counted after rows were written', () => {
  it('is what a recount of the rows gives, however often a batch is written again', async () => {
    await fc.assert(
      fc.asyncProperty(rows, fc.nat(2), async (made, again) => {
        await registry.sql`truncate calls, call_payloads, call_hours, call_days, agent_hours, agent_days, agent_skill_days`
        const entries = made.map(({ hoursAgo, ...change }) => ({
          row: row({ ...change, ts: new Date(Date.now() - hoursAgo * 3_600_000) }),
        }))
        await write(entries)
        // A process that is killed between the commit and the note of it brings all of it again, and something new beside.
        for (let times = 0; times < again; times += 1) await write([...entries, ...entries.slice(0, 3)])
        await expectRecount()
        const places = new Map<number, number>()
        for (const { row: of } of entries)
          if (!of.dry_run) places.set(durationBucket(of.total_ms), (places.get(durationBucket(of.total_ms)) ?? 0) + 1)
        for (const table of tables) {
          const everybody = table === 'agent_hours' || table === 'agent_days' ? registry.sql`where agent_id <> ''` : registry.sql``
          const [sum] = await registry.sql`select coalesce(sum(histogram), 0)::text as histogram from ${registry.sql(table)} ${everybody}`
          expect([...readHistogram(sum?.['histogram'])].sort()).toEqual([...places].sort())
        }
      }),
      { numRuns: 25 },
    )
  })
  it('counts a row once while two count at once', async () => {
    await writeEntries(
      registry.sql,
      Array.from({ length: 30 }, () => ({ row: row({ rollout_id: 'r', arm: 'canary' }) })),
      installId,
    )
    await Promise.all([fold(), fold()])
    await expectRecount()
    expect(await registry.sql`select calls::int from rollout_units`).toEqual([{ calls: 30 }])
  })
  it('takes away of what a late row replaces only what was counted', async () => {
    const [counted, uncounted] = [row(), row()]
    const unknown = (of: NewCallRow): LogEntry => ({ row: { ...of, outcome: 'unknown' } })
    await write([unknown(counted)])
    await writeEntries(registry.sql, [unknown(uncounted)], installId)
    await registry.sql`insert into call_unknowns (call_id) values (${counted.call_id}), (${uncounted.call_id})`
    await writeEntries(registry.sql, [{ row: counted }, { row: uncounted }], installId)
    await fold()
    await expectRecount()
    expect(await registry.sql`select outcome, calls::int from agent_days where calls <> 0 and agent_id <> ''`).toEqual([
      { outcome: 'ok', calls: 2 },
    ])
  })
  it('counts a violation whose path holds what no text of Postgres can', async () => {
    await write([{ row: row({ outcome: 'invalid_input', violations: [{ path: '/a\u0000\ud800', rule: 'type' }] }) }])
    expect(await registry.sql`select path, calls::int from violation_days`).toEqual([{ path: '/a\uFFFD\uFFFD', calls: 1 }])
  })
  it('counts places of violations by day, items of an array as one place', async () => {
    const violations = [
      { path: '/orders/0/id', rule: 'type' },
      { path: '/orders/7/id', rule: 'type' },
      { path: '/limit', rule: 'maximum' },
    ]
    await write([
      { row: row({ outcome: 'invalid_input', violations }) },
      { row: row({ outcome: 'invalid_input', violations: violations.slice(2) }) },
    ])
    expect(await registry.sql`select path, rule, calls::int from violation_days order by path`).toEqual([
      { path: '/limit', rule: 'maximum', calls: 2 },
      { path: '/orders/*/id', rule: 'type', calls: 1 },
    ])
  })
  it('counts the calls of a rollout by unit, and by arm alone where every call is a unit', async () => {
    const of = (change: Partial<NewCallRow>): LogEntry => ({
      row: row({ rollout_id: 'r', arm: 'candidate', unit_kind: 'agent', unit_hash: 'u1', total_ms: 3, ...change }),
    })
    await write([
      of({}),
      of({ outcome: 'timeout' }),
      of({ unit_hash: 'u2' }),
      of({ outcome: 'denied' }),
      of({ unit_kind: 'call', unit_hash: 'x' }),
      of({ unit_kind: 'call', unit_hash: 'y' }),
    ])
    expect(await registry.sql`select unit_kind, unit_hash, calls::int, failures::int, squared_ms from rollout_units order by 1, 2`).toEqual(
      [
        { unit_kind: 'agent', unit_hash: 'u1', calls: 2, failures: 1, squared_ms: 18 },
        { unit_kind: 'agent', unit_hash: 'u2', calls: 1, failures: 0, squared_ms: 9 },
        { unit_kind: 'call', unit_hash: '', calls: 2, failures: 0, squared_ms: 18 },
      ],
    )
  })
})

describe('intents', () => {
  const open = async (): Promise<readonly object[]> => registry.sql`select call_id from call_intents`
  const look = (change: Partial<Standing>): Promise<number> =>
    settleOnce(registry.sql, {
      installId,
      spool: randomUUID(),
      instance: randomUUID(),
      openCalls: [],
      isCaughtUp: true,
      steadyMs: 0,
      ...change,
    })
  it('are there until the row is, in whatever order and however often they arrive', async () => {
    const one = row()
    const intent = intentOf(one, randomUUID())
    const ended: LogEntry = { row: one, closesIntent: true }
    await write([intent])
    expect(await open()).toHaveLength(1)
    await write([ended])
    expect(await open()).toHaveLength(0)
    await write([intent])
    expect(await open()).toHaveLength(0)
    const other = row()
    await write([intentOf(other, randomUUID()), { row: other, closesIntent: true }])
    expect(await open()).toHaveLength(0)
  })
  it('of a process that is gone become unknown, and a row that comes late takes the place of that', async () => {
    const [gone, alive] = [randomUUID(), randomUUID()]
    const lost = row({ skill: 'lost' })
    const running = row({ skill: 'running' })
    await write([intentOf(lost, gone), intentOf(running, alive)])
    await registry.sql`update call_intents set noted_at = now() - interval '50 seconds'`
    await registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision) values (${gone}, 'gone', now(), now() - interval '46 seconds', 1), (${alive}, 'alive', now(), now(), 1)`
    expect(await look({ steadyMs: 30_000 })).toBe(0)
    expect(await look({ steadyMs: 60_000 })).toBe(1)
    expect(await look({ steadyMs: 60_000 })).toBe(0)
    await fold()
    expect(await registry.sql`select skill, outcome, error_code from calls`).toEqual([
      { skill: 'lost', outcome: 'unknown', error_code: 'OUTCOME_UNKNOWN' },
    ])
    await expectRecount()
    await write([{ row: { ...lost, outcome: 'ok', total_ms: 12 }, closesIntent: true }])
    await write([{ row: { ...lost, outcome: 'ok', total_ms: 12 }, closesIntent: true }])
    expect(await registry.sql`select skill, outcome from calls`).toEqual([{ skill: 'lost', outcome: 'ok' }])
    await expectRecount()
    expect(await open()).toHaveLength(1)
  })
  it('that an earlier process of this spool left become unknown at once, when all it left is drained', async () => {
    const spool = randomUUID()
    await write([intentOf(row(), randomUUID(), spool)])
    expect(await look({ spool, isCaughtUp: false })).toBe(0)
    expect(await look({ spool, isCaughtUp: true })).toBe(1)
  })
  it('of this process whose call ended without a row become unknown, those of running ones do not', async () => {
    const instance = randomUUID()
    const [ended, running] = [row(), row()]
    await write([intentOf(ended, instance), intentOf(running, instance)])
    expect(await look({ instance, openCalls: [running.call_id] })).toBe(0)
    await registry.sql`update call_intents set noted_at = now() - interval '50 seconds'`
    expect(await look({ instance, openCalls: [running.call_id] })).toBe(1)
    expect(await registry.sql`select call_id from calls`).toEqual([{ call_id: ended.call_id }])
  })
})
