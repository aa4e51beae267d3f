import { setTimeout as pause } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { writeEntries } from '../src/log/write-entries.ts'
import { newRow } from './support/new-row.ts'
import type { Data } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let [agent, auditor] = ['', '']
const bulk = 60_000
const hourMs = 3_600_000
const at = (hoursAgo: number): string => new Date(Date.now() - hoursAgo * hourMs).toISOString()
let made = 0
const write = async (hoursAgo: number, change: object): Promise<string> => {
  const ts = new Date(Date.now() - hoursAgo * hourMs)
  const time = ts.getTime().toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String((made += 1)).padStart(12, '0')}`
  await writeEntries(
    registry.sql,
    [{ row: newRow({ call_id: id, ts, agent_id: 'worker', skill: 'look-up', ...change }) }],
    registry.deps.snapshot().installId,
  )
  return id
}
const exported = async (query: string, key?: string): Promise<{ status: number; text: string; headers: Headers }> =>
  registry.send('GET', `/v1/calls/export?${query}`, key === undefined ? {} : { key })
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const usedBytes = (): number => {
  collectGarbage()
  return process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
}
const lines = (text: string): Data[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

beforeAll(async () => {
  registry = await openTestRegistry()
  agent = await registry.agent('worker')
  auditor = await registry.agent('auditor', { role: 'auditor' })
  await write(2, { input: Buffer.from('{"note":"first"}'), total_ms: 5 })
  await write(1, { agent_id: 'other', input: Buffer.from('{"note":"second"}'), total_ms: 50 })
  await registry.sql
    .unsafe(`insert into calls (call_id, ts, replica, agent_id, skill, revision, attempts, outcome, total_ms, input_bytes, output_bytes, truncated, dry_run)
    select (left(repertoire_first_id(t)::text, 24) || lpad(n::text, 12, '0'))::uuid, t, 'r', 'bulk', 'bulk-one', 1, 1, case when n % 30000 = 0 then 'timeout' else 'ok' end, 1, 900, 0, false, false
    from (select n, now() - interval '20 hours' + n * interval '1 second' / 10 as t from generate_series(1, ${bulk}) as n) as times`)
  await registry.sql.unsafe(
    `insert into call_payloads (call_id, input) select call_id, convert_to('{"text":"' || repeat('x', 880) || '"}', 'UTF8') from calls where agent_id = 'bulk'`,
  )
}, 120_000)
afterAll(() => registry.close())

describe('GET /v1/calls/export', () => {
  it('200: NDJSON, oldest first, and a last line that says it is whole', async () => {
    const { text, headers } = await exported(`from=${at(3)}&skill=look-up`)
    const rows = lines(text)
    expect(rows.map((row) => row.input?.note ?? row.end)).toEqual(['first', 'second', { complete: true, rows: 2 }])
    expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      'application/x-ndjson; charset=utf-8',
      expect.stringMatching(/^attachment; filename="calls-.*\.ndjson"$/),
    ])
  })
  it('200: CSV, in which nothing is a formula', async () => {
    for (const session of ['=1+1', '+1', '-1', '@x', '\tx', 'say "hi", there'])
      await write(30, { skill: 'odd', session, input: Buffer.from('[1]') })
    const { text } = await exported(`from=${at(40)}&skill=odd&format=csv`)
    const [head = '', ...rows] = text.trimEnd().split('\r\n')
    const place = head.split(',').indexOf('session')
    const cells = rows.slice(0, -1).map((row) => row.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)?.[place])
    expect(cells).toEqual([`"'=1+1",`, `"'+1",`, `"'-1",`, `"'@x",`, `"'\tx",`, `"say ""hi"", there",`])
    expect([rows.at(-1), head.split(',').length > 40]).toEqual(['#end,6', true])
  })
  it('200: memory stays flat over sixty thousand rows, which are read as fast as they are taken', async () => {
    const response = await registry.open('GET', `/v1/calls/export?from=${at(23)}`)
    const reader = response.body?.getReader()
    let [bytes, chunks, most] = [0, 0, 0]
    const before = usedBytes()
    let tail = ''
    for (;;) {
      const chunk = await reader?.read()
      if (chunk?.value === undefined) break
      bytes += chunk.value.byteLength
      chunks += 1
      tail = Buffer.from(chunk.value).toString('utf8').slice(-200)
      if (chunks % 50 === 0) {
        most = Math.max(most, usedBytes() - before)
      }
    }
    console.log(`${Math.round(bytes / 2 ** 20)} MiB exported, at most ${Math.round(most / 2 ** 20)} MiB more in memory`)
    expect(lines(tail.slice(tail.lastIndexOf('\n', tail.length - 2) + 1))).toEqual([{ end: { complete: true, rows: bulk + 2 } }])
    expect([bytes > 80 * 2 ** 20, most < 20 * 2 ** 20]).toEqual([true, true])
  }, 120_000)
  it('200: nothing is read ahead of a reader that does not read', async () => {
    const { calls } = registry.deps
    const find = vi.spyOn(calls, 'find')
    const response = await registry.open('GET', `/v1/calls/export?from=${at(23)}`)
    await pause(1500)
    expect(find.mock.calls.length).toBeLessThan(3)
    const reader = response.body?.getReader()
    for (let chunk = 0; chunk < 5; chunk += 1) await reader?.read()
    await pause(300)
    expect(find.mock.calls.length).toBeLessThan(10)
    find.mockRestore()
    await reader?.cancel()
    expect(registry.deps.exportPlaces.taken()).toBe(0)
  })
  it('200: filters that leave few of many rows leave none out', async () => {
    const rows = lines((await exported(`from=${at(23)}&outcome=timeout`)).text)
    expect(rows.at(-1)).toEqual({ end: { complete: true, rows: 2 } })
  })
  it('200: an agent exports its own calls; others’ are noted, with payloads only for those who may read them', async () => {
    expect(lines((await exported(`from=${at(3)}`, agent)).text).map((row) => row.agent_id ?? row.end)).toEqual([
      'worker',
      { complete: true, rows: 1 },
    ])
    const rows = lines((await exported(`from=${at(3)}&skill=look-up`, auditor)).text)
    expect(rows.slice(0, 2).map((row) => [row.input, row.payload_withheld])).toEqual([
      [null, true],
      [null, true],
    ])
    const noted = await registry.sql`select caller, after from audit_events where action = 'calls.export' order by seq desc limit 1`
    expect(noted[0]).toMatchObject({ caller: 'auditor', after: { payloads: false, asked: { skill: 'look-up' } } })
    expect((await registry.sql`select 1 from audit_events where action = 'calls.export' and caller = 'worker'`).length).toBe(0)
  })
  it('200, and broken off with a last line that says so, once the key is good no more', async () => {
    const key = await registry.agent('leaver', { role: 'operator' })
    const response = await registry.open('GET', `/v1/calls/export?from=${at(23)}&skill=bulk-one`, { key })
    const reader = response.body?.getReader()
    await reader?.read()
    await registry.send('PATCH', '/v1/agents/leaver', { body: { disabled: true } })
    let text = ''
    for (let chunk = await reader?.read(); chunk?.value !== undefined; chunk = await reader?.read())
      text += Buffer.from(chunk.value).toString('utf8')
    const { end } = JSON.parse(text.trimEnd().split('\n').at(-1) ?? '')
    expect([end.complete, end.rows < bulk, end.error.code, registry.deps.exportPlaces.taken()]).toEqual([false, true, 'UNAVAILABLE', 0])
  })
  it('400, 403, 503: what cannot be exported is refused before anything is sent', async () => {
    const code = async (query: string, key?: string): Promise<unknown> => JSON.parse((await exported(query, key)).text).error.code
    expect(await code(`from=${at(24 * 91)}`)).toBe('INVALID_REQUEST')
    expect(await code('format=xml')).toBe('INVALID_REQUEST')
    expect(await code('agent=other', agent)).toBe('ROLE_REQUIRED')
    expect(await code('q=second', auditor)).toBe('PERMISSION_DENIED')
    const open = await Promise.all([1, 2].map(() => registry.open('GET', `/v1/calls/export?from=${at(23)}`)))
    expect(await code('')).toBe('BUSY')
    await Promise.all(open.map((response) => response.body?.cancel()))
    expect(registry.deps.exportPlaces.taken()).toBe(0)
  })
})
