import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keepOnce } from '../src/log/partitions/keep-once.ts'
import { foldOnce } from '../src/log/rollups/fold.ts'
import { writeEntries } from '../src/log/write-entries.ts'
import { newRow } from './support/new-row.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let upkeep: postgres.Sql
beforeAll(async () => {
  registry = await openTestRegistry()
  upkeep = postgres(registry.databaseUrl, { max: 1, onnotice: () => undefined, connection: { lock_timeout: 200 } })
})
afterAll(async () => {
  await upkeep.end()
  await registry.close()
})

const dayMs = 86_400_000
const keep = { payloadDays: 7, callDays: 90 }
let made = 0
/** A row of a call so many days ago; its id lies in the partition of that day. */
const writeAt = async (daysAgo: number, agent = 'old'): Promise<string> => {
  const ts = new Date(Date.now() - daysAgo * dayMs)
  const time = ts.getTime().toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String((made += 1)).padStart(12, '0')}`
  const row = newRow({ call_id: id, ts, agent_id: agent, skill: 'kept', version: '1.0.0', input: Buffer.from('{"a":1}') })
  await writeEntries(registry.sql, [{ row }], registry.deps.snapshot().installId)
  return id
}
const places = async (): Promise<Record<string, string>> => {
  const rows = await registry.sql`select call_id, tableoid::regclass::text as part from calls`
  return Object.fromEntries(rows.map((row) => [row['call_id'], row['part']]))
}
const partOf = (daysAgo: number): string => `calls_${new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`

describe('the partitions of the log', () => {
  it('are there for today and the three days to come', async () => {
    await keepOnce(upkeep, keep)
    const parts = await registry.sql`select inhrelid::regclass::text as part from pg_inherits where inhparent = 'calls'::regclass`
    for (const ahead of [0, -1, -2, -3]) expect(parts.map((row) => row['part'])).toContain(partOf(ahead))
  })
  it('take over what lies in the default one, with its seq, its indexes and its payload', async () => {
    const id = await writeAt(3)
    expect(await places()).toEqual({ [id]: 'calls_default' })
    const [before] = await registry.sql`select seq from calls where call_id = ${id}`
    expect(await keepOnce(upkeep, keep)).toEqual({ strayRows: 0, isAhead: true })
    const [after] = await registry.sql`select seq from calls where call_id = ${id}`
    expect([await places(), after?.['seq']]).toEqual([{ [id]: partOf(3) }, before?.['seq']])
    const plan = await registry.sql.unsafe(`explain select * from calls where skill = 'kept' and call_id = '${id}'`)
    expect(JSON.stringify(plan)).toContain('Index Scan')
    const next = await writeAt(3)
    const seqs = await registry.sql`select seq::int from calls where call_id in (${id}, ${next}) order by seq`
    expect([(await places())[next], new Set(seqs.map((row) => row['seq'])).size]).toEqual([partOf(3), 2])
  })
  it('tell of rows in the default one that no day of ours will take', async () => {
    const id = await writeAt(-400)
    expect((await keepOnce(upkeep, keep)).strayRows).toBe(2)
    await registry.sql`delete from calls where call_id = ${id}`
    await registry.sql`delete from call_payloads where call_id = ${id}`
    expect((await keepOnce(upkeep, keep)).strayRows).toBe(0)
  })
  it('go when they are old: payloads first, then calls and what was counted of them, but for the days of skills', async () => {
    const [young, middle, old] = [await writeAt(6), await writeAt(30), await writeAt(120)]
    while ((await foldOnce(registry.sql)) > 0);
    await keepOnce(upkeep, keep)
    const kept =
      await registry.sql`select c.call_id, p.call_id is not null as payload from calls c left join call_payloads p using (call_id) where agent_id = 'old' order by 1`
    expect(Object.fromEntries(kept.map((row) => [row['call_id'], row['payload']]))).toMatchObject({ [young]: true, [middle]: false })
    expect(kept.map((row) => row['call_id'])).not.toContain(old)
    const oldest = async (table: string): Promise<number> => {
      const [row] = await registry.sql`select min(bucket) as at from ${registry.sql(table)}`
      return Math.floor((Date.now() - Number(row?.['at'])) / dayMs)
    }
    expect([await oldest('call_hours'), await oldest('agent_skill_days'), await oldest('call_days')]).toEqual([30, 30, 120])
  })
  it('are dropped in less than a second while calls are written, and no row is lost', async () => {
    const day = 100
    await registry.sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - ${day}::int, 1)`
    await registry.sql
      .unsafe(`insert into calls (call_id, ts, replica, agent_id, skill, revision, attempts, outcome, total_ms, input_bytes, output_bytes, truncated, dry_run)
      select repertoire_first_id(t) , t, 'r', 'bulk', 's', 1, 1, 'ok', 1, 0, 0, false, false
      from (select (now() at time zone 'UTC')::date::timestamp at time zone 'UTC' - interval '${day} days' + n * interval '1 millisecond' as t from generate_series(1, 200000) as n) as times`)
    let written = 0
    let isOver = false
    const writer = (async () => {
      while (!isOver) {
        await writeAt(0, 'busy')
        written += 1
      }
    })()
    await pause(100)
    const started = performance.now()
    await keepOnce(upkeep, keep)
    const tookMs = performance.now() - started
    isOver = true
    await writer
    const rows = await registry.sql`select agent_id, count(*)::int as rows from calls where agent_id in ('bulk', 'busy') group by 1`
    console.log(`a day of 200 000 rows was dropped in ${Math.round(tookMs)} ms while ${written} rows were written`)
    expect([rows.map((row) => ({ ...row })), written > 0, tookMs < 4000]).toEqual([[{ agent_id: 'busy', rows: written }], true, true])
  })
  it('that were detached by a process which then ended are dropped too', async () => {
    await registry.sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - 95, 1)`
    await registry.sql`alter table calls detach partition ${registry.sql(partOf(95))}`
    await keepOnce(upkeep, keep)
    expect((await registry.sql`select to_regclass(${partOf(95)}) as part`)[0]?.['part']).toBeNull()
  })
  it('wait for nobody: a table that somebody holds is tried again, and writers behind it are not held up', async () => {
    await registry.sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - 97, 1)`
    const holder = await registry.sql.reserve()
    await holder`begin`
    await holder`select count(*) from calls`
    const keeping = keepOnce(upkeep, keep)
    await pause(300)
    const started = performance.now()
    await writeAt(0, 'behind')
    const tookMs = performance.now() - started
    await holder`commit`
    holder.release()
    await keeping
    expect([tookMs < 1000, (await registry.sql`select to_regclass(${partOf(97)}) as part`)[0]?.['part']]).toEqual([true, null])
  })
})
