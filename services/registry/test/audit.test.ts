import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let auditor: string
beforeAll(async () => {
  registry = await openTestRegistry()
  auditor = await registry.agent('auditor-one', { role: 'auditor' })
  for (const version of ['1.0.0', '1.1.0']) {
    await registry.publish({ name: 'audited', version })
    await registry.release('audited', version)
  }
})
afterAll(() => registry.close())

const verify = async (): Promise<Data> => (await registry.send('GET', '/v1/audit/verify', { key: auditor })).body.data
/** Does something to the log that only who owns the database can do, looks, and puts it back. */
const tampered = async (change: string, restore: string): Promise<Data> => {
  const free = async (statement: string): Promise<void> => {
    await registry.sql.unsafe(`alter table audit_events disable trigger all; ${statement}; alter table audit_events enable trigger all`)
  }
  await free(change)
  const verdict = await verify()
  await free(restore)
  return verdict.first_bad
}

describe('GET /v1/audit', () => {
  it('200: who did what and why, newest first, in pages, by caller, action and skill', async () => {
    const reply = await registry.send('GET', '/v1/audit?skill=audited', { key: auditor })
    expect(reply.body.data.items.map((item: Data) => [item.action, item.subject, item.caller])).toEqual([
      ['version.release', 'audited@1.1.0', 'admin'],
      ['version.publish', 'audited@1.1.0', 'admin'],
      ['version.release', 'audited@1.0.0', 'admin'],
      ['version.publish', 'audited@1.0.0', 'admin'],
    ])
    const first = await registry.send('GET', '/v1/audit?limit=2', { key: auditor })
    const second = await registry.send('GET', `/v1/audit?limit=2&cursor=${first.body.data.next_cursor}`, { key: auditor })
    expect(second.body.data.items[0].seq).toBe(first.body.data.items[1].seq - 1)
    expect((await registry.send('GET', '/v1/audit?action=key.create&caller=admin', { key: auditor })).body.data.items).toHaveLength(1)
    expect((await registry.send('GET', '/v1/audit?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z')).body.data.items).toEqual([])
  })
  it('400 and 403: a bad cursor, a window that ends before it begins, an agent', async () => {
    const agent = await registry.agent('some-agent')
    expect((await registry.send('GET', '/v1/audit?cursor=x')).body.error?.code).toBe('INVALID_REQUEST')
    expect((await registry.send('GET', '/v1/audit?from=2020-01-02T00:00:00Z&to=2020-01-01T00:00:00Z')).body.error?.code).toBe(
      'INVALID_REQUEST',
    )
    for (const path of ['/v1/audit', '/v1/audit/verify'])
      expect((await registry.send('GET', path, { key: agent })).body.error?.code).toBe('ROLE_REQUIRED')
  })
})

describe('GET /v1/audit/verify', () => {
  it('200: the chain holds, over everything that was written, at once too', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_, n) => registry.send('POST', '/v1/agents', { body: { id: `at-once-${n}`, name: 'x' } })),
    )
    const verdict = await verify()
    const [{ count }] = (await registry.sql`select count(*)::int as count from audit_events`) as unknown as [{ count: number }]
    expect([verdict.ok, verdict.rows, verdict.unverifiable, verdict.first_bad]).toEqual([true, count, 0, null])
  })
  it('names the first event that was edited, removed, moved or forged', async () => {
    await registry.sql`create table saved as select * from audit_events`
    const back = `delete from audit_events; insert into audit_events overriding system value select * from saved`
    const cases: (readonly [string, number, RegExp])[] = [
      [`update audit_events set reason = 'another reason' where seq = 4`, 4, /it was changed/],
      [`update audit_events set after = '{}' where seq = 5`, 5, /it was changed/],
      [`update audit_events set caller = 'somebody' where seq = 2`, 2, /it was changed/],
      [`delete from audit_events where seq = 3`, 4, /an event before it was removed/],
      [`delete from audit_events where seq = 1`, 2, /an event before it was removed/],
      [
        `delete from audit_events where seq in (6, 7); insert into audit_events overriding system value select 13 - seq, at, caller, role, key_id, action, subject, reason, before, after, revision, previous_hash, hash, skill, change from saved where seq in (6, 7)`,
        6,
        /removed, changed or moved/,
      ],
      [`update audit_events set hash = null where seq = 5`, 5, /not part of the chain/],
      [`update audit_events set action = 'installation.secret' where seq = 5`, 5, /it was changed/],
    ]
    for (const [change, seq, problem] of cases) {
      const bad = await tampered(change, back)
      expect([change, bad?.seq, bad?.problem]).toEqual([change, seq, expect.stringMatching(problem)])
    }
    expect((await verify()).ok).toBe(true)
  })
  it('names a tail that was cut off, because its end is kept beside the database too', async () => {
    const back = `delete from audit_events; insert into audit_events overriding system value select * from saved`
    const [{ last }] = (await registry.sql`select max(seq)::int as last from audit_events`) as unknown as [{ last: number }]
    const bad = await tampered(`delete from audit_events where seq > ${last - 3}`, back)
    expect([bad?.seq, bad?.problem]).toEqual([
      last,
      `the tail is cut: this replica knows of event ${last}, and the last one there is ${last - 3}`,
    ])
    expect([(await verify()).ok, registry.bugs]).toEqual([true, []])
  })
  it('does not call a log whole again because something was appended behind what was cut, removed or rewritten', async () => {
    for (const change of [
      `delete from audit_events where seq = (select max(seq) from audit_events)`,
      `delete from audit_events`,
      `update audit_events set hash = null, previous_hash = null, caller = 'innocent'`,
    ]) {
      const own = await openTestRegistry()
      const { sql } = own
      await own.agent('somebody')
      await sql.unsafe(`alter table audit_events disable trigger all; ${change}; alter table audit_events enable trigger all`)
      await own.agent('somebody-else')
      const verdict = (await own.send('GET', '/v1/audit/verify')).body.data
      expect([change, verdict.ok, verdict.first_bad === null]).toEqual([change, false, false])
      await own.close()
    }
  })
})
