import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { indexClosedDays } from '../src/log/partitions/index-texts.ts'
import { findPage } from '../src/log/search/find-page.ts'
import { writeEntries } from '../src/log/write-entries.ts'
import { newRow } from './support/new-row.ts'
import type { Data } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let [agent, auditor] = ['', '']
const hourMs = 3_600_000
const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * hourMs).toISOString()
let made = 0
const idAt = (ms: number): string => {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String((made += 1)).padStart(12, '0')}`
}
const write = async (hoursAgo: number, input: string, change: object = {}): Promise<string> => {
  const ts = new Date(Date.now() - hoursAgo * hourMs)
  const row = newRow({ call_id: idAt(ts.getTime()), ts, agent_id: 'worker', skill: 'look-up', input: Buffer.from(input), ...change })
  await writeEntries(registry.sql, [{ row }], registry.deps.snapshot().installId)
  return row.call_id
}
const ask = async (query: string, key?: string): Promise<Data> =>
  (await registry.send('GET', `/v1/calls?${query}`, key === undefined ? {} : { key })).body
const ids = async (query: string): Promise<string[]> => {
  const seen: string[] = []
  let cursor = ''
  for (let page = 0; page < 50; page += 1) {
    const { data } = await ask(`${query}${cursor}`)
    seen.push(...data.items.map((item: Data) => item.call_id))
    if (data.next_cursor === null) return seen
    cursor = `&cursor=${data.next_cursor}`
  }
  throw new Error('the pages have no end')
}
/** Builds the indexes of days that are over; whether there were any, and none is built twice. */
const indexDays = async (): Promise<boolean> => {
  const upkeep = postgres(registry.databaseUrl, { max: 1, onnotice: () => undefined })
  const [made, again] = [await indexClosedDays(upkeep), await indexClosedDays(upkeep)]
  await upkeep.end()
  return made.length > 0 && again.length === 0
}
const texts: Record<string, string> = {
  plain: '{"order_id":"71781","note":"Late delivery"}',
  umlaut: '{"city":"Zürich","note":"grüezi"}',
  wild: '{"note":"100%_sure \\\\ maybe"}',
  quoted: '{"note":"she said \\"hello there\\""}',
  octal: '{"note":"\\\\303\\\\274"}',
  cut: `{"note":"${'ü'.repeat(20)}`,
}
const found: Record<string, string> = {}

beforeAll(async () => {
  registry = await openTestRegistry()
  agent = await registry.agent('worker')
  auditor = await registry.agent('auditor', { role: 'auditor' })
  await registry.sql`select repertoire_make_partitions((now() at time zone 'UTC')::date - 3, 3)`
  for (const [name, text] of Object.entries(texts)) found[name] = await write(0.1, text)
  for (const [name, text] of Object.entries(texts)) found[`${name}, closed`] = await write(50, text)
  await registry.sql`update call_payloads set input = substring(input from 1 for octet_length(input) - 1) where call_id in (${found['cut'] ?? ''}, ${found['cut, closed'] ?? ''})`
  found['traced'] = await write(0.2, '{}', { trace_id: 'feed', session: 'one', dry_run: true, total_ms: 900 })
})
afterAll(() => registry.close())

describe('GET /v1/calls with filters', () => {
  it('200: by trace, by dry run, by duration, and by several at once', async () => {
    expect(await ids('trace=feed')).toEqual([found['traced']])
    expect(await ids('dry_run=true')).toEqual([found['traced']])
    expect((await ids('dry_run=false')).length).toBe(6)
    expect(await ids('min_duration_ms=900&session=one&trace=feed&agent=worker&skill=look-up')).toEqual([found['traced']])
    expect(await ids('session=one&trace=beef')).toEqual([])
  })
  it.each([
    ['before there is an index', async () => true],
    ['with the index of the day that is over', indexDays],
  ])('200: by a part of the input: %s', async (_, prepare) => {
    expect(await prepare()).toBe(true)
    const both = (name: string): (string | undefined)[] => [found[name], found[`${name}, closed`]]
    const search = (text: string): Promise<string[]> => ids(`from=${at(60)}&limit=1&q=${encodeURIComponent(text)}`)
    expect(await search('late DELIV')).toEqual(both('plain'))
    expect(await search('Zürich')).toEqual(both('umlaut'))
    expect(await search('100%_sure')).toEqual(both('wild'))
    expect(await search('100_%sure')).toEqual([])
    expect(await search('sure \\ may')).toEqual(both('wild'))
    expect(await search('said "hello')).toEqual(both('quoted'))
    expect(await search('"order_id":"71781"')).toEqual(both('plain'))
    // What only looks like the escaped bytes of an ü is none, and the other way round.
    expect(await search('303')).toEqual(both('octal'))
    expect(await search('üüüü')).toEqual(both('cut'))
    expect(await search('nowhere')).toEqual([])
  })
  it('200: where filters leave few of many rows, pages go on until all was looked at', async () => {
    const rows = 120_000
    await registry.sql
      .unsafe(`insert into calls (call_id, ts, replica, agent_id, skill, revision, attempts, outcome, total_ms, input_bytes, output_bytes, truncated, dry_run)
      select (left(repertoire_first_id(t)::text, 24) || lpad(n::text, 12, '0'))::uuid, t, 'r', 'bulk', 'bulk-one', 1, 1, case when n in (5, ${rows - 5}) then 'timeout' else 'ok' end, 1, 0, 0, false, false
      from (select n, now() - interval '5 hours' + n * interval '100 milliseconds' as t from generate_series(1, ${rows}) as n) as times`)
    const first = await ask('outcome=timeout&skill=bulk-one')
    expect([first.data.items.length, first.meta.warnings[0]?.code]).toEqual([1, 'looked_at_part'])
    expect((await ids('outcome=timeout&skill=bulk-one')).length).toBe(2)
    expect((await ids('q=nowhere&agent=worker')).length).toBe(0)
  })
  it('finds nothing twice where rows are written while a page is made', async () => {
    const looked = 5000
    await registry.sql
      .unsafe(`insert into calls (call_id, ts, replica, agent_id, skill, revision, attempts, outcome, total_ms, input_bytes, output_bytes, truncated, dry_run)
      select (left(repertoire_first_id(t)::text, 24) || lpad(n::text, 12, '0'))::uuid, t, 'r', 'bulk', 'busy-one', 1, 1, case when n = 1 then 'timeout' else 'ok' end, 1, 0, 0, false, false
      from (select n, now() - interval '3 hours' + n * interval '100 milliseconds' as t from generate_series(1, ${looked}) as n) as times`)
    // Another row comes just before it is asked how far was looked.
    const busy = new Proxy(registry.sql, {
      apply: (ask, self, given: Parameters<typeof registry.sql>) => {
        const [parts] = given as unknown as [readonly string[]]
        const isLate = Array.isArray(parts) && parts.some((part) => part.trimEnd().endsWith('offset'))
        const asked = (): unknown => Reflect.apply(ask, self, given)
        return isLate ? write(0, '{}', { skill: 'busy-one' }).then(asked) : asked()
      },
    })
    const window = {
      from: new Date(Date.now() - 4 * hourMs),
      to: new Date(Date.now() + hourMs),
      skill: 'busy-one',
      outcome: 'timeout' as const,
      limit: 50,
    }
    const first = await findPage(busy, { ...window, beyond: undefined })
    expect([first.rows.length, first.lookedTo]).toEqual([1, expect.any(String)])
    expect((await findPage(registry.sql, { ...window, beyond: first.lookedTo })).rows).toEqual([])
  })
  it('200: says how far other replicas are behind', async () => {
    expect((await ask('limit=1')).meta.log_lag_ms).toBe(0)
    await registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision, log_lag_ms) values (gen_random_uuid(), 'behind', now(), now(), 1, 4200)`
    expect((await ask('limit=1')).meta.log_lag_ms).toBe(4200)
  })
  it('400 INVALID_REQUEST: too short a text', async () => {
    expect((await ask('q=ab')).error?.code).toBe('INVALID_REQUEST')
  })
  it('403 PERMISSION_DENIED: an auditor without payload:read does not find out by asking', async () => {
    expect((await ask('q=delivery', auditor)).error?.code).toBe('PERMISSION_DENIED')
    expect((await ask('q=delivery&agent=auditor', auditor)).data.items).toEqual([])
    expect((await ask('q=delivery', agent)).data.items).toHaveLength(1)
    await registry.send('POST', '/v1/agents/auditor/grants', { body: { pattern: 'payload:read', reason: 'a test grants it' } })
    expect((await ask('q=delivery', auditor)).data.items).toHaveLength(1)
  })
})
