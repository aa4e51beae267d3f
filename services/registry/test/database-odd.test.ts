import { systemCaller } from '@repertoire/core'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { openDatabase } from '../src/store/connect.ts'
import { runTransaction } from '../src/store/transaction.ts'
import type { Reply } from './support/test-client.ts'
import { openTcpProxy } from './support/tcp-proxy.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
afterEach(() => registry.close())

const post = (path: string, body: object = {}, query = ''): Promise<Reply> =>
  registry.send('POST', `/v1/${path}${query}`, { headers: { 'if-match': '*' }, body: { reason: 'a test tries it', ...body } })
const started = async (name: string): Promise<string> => {
  await registry.publish({ name })
  await registry.release(name, '1.0.0')
  await registry.publish({ name, version: '1.1.0' })
  return (await post(`skills/${name}/rollouts`, { version: '1.1.0', percent: 100, force: true })).body.data.id
}
/** Holds a skill's place for some time, as a writer that hangs does. */
const holdSkill = (name: string, ms: number): Promise<unknown> =>
  registry.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`repertoire.skill.${name}`}, 0))`
    await new Promise((resolve) => setTimeout(resolve, ms))
  })

describe('a database that is slow, hangs, or is another one', () => {
  it('work that was refused because its time was over is never committed later', async () => {
    registry = await openTestRegistry()
    const own = openDatabase(registry.databaseUrl)
    // The place is free before the lock's own time-out, and long after nobody waits for the answer any more.
    const holding = holdSkill('late_one', 1000)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const late = own.general.gate.run(
      (ticket) =>
        runTransaction(own.general.db, { secret: registry.deps.settings.installSecret, ticket }, async (tx) => {
          await tx.skills.lock('late_one')
          await tx.audit.append({ caller: systemCaller, action: 'test.late', subject: 'late', at: new Date() })
        }),
      300,
    )
    await expect(late).rejects.toMatchObject({ code: 'UNAVAILABLE', effect: 'none' })
    await holding
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(await registry.sql`select 1 from audit_events where action = 'test.late'`).toEqual([])
    await own.close()
  })
  it('a rollback and a revocation get through while reads, waits and other commands take all there is', async () => {
    registry = await openTestRegistry()
    const id = await started('busy-one')
    const other = await started('other-one')
    await registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision) values (gen_random_uuid(), 'ghost', now(), now(), 1)`
    await registry.agent('leaver')
    const keyId = (await registry.send('GET', '/v1/agents/leaver/keys')).body.data.items[0].id
    const holding = holdSkill('held_one', 3000)
    const crowd = [
      ...Array.from({ length: 150 }, () => post(`rollouts/${other}/rollback`, {}, '?wait=3s')),
      ...Array.from({ length: 200 }, () => registry.send('GET', `/v1/rollouts/${other}`)),
      ...Array.from({ length: 40 }, () => post('skills/held-one/versions/1.0.0/release')),
    ]
    await new Promise((resolve) => setTimeout(resolve, 300))
    const rollback = await post(`rollouts/${id}/rollback`)
    const revoked = await registry.send('DELETE', `/v1/agents/leaver/keys/${keyId}`)
    expect([rollback.status, rollback.body.data?.state, revoked.status]).toEqual([200, 'rolled_back', 200])
    await Promise.all([holding, ...crowd])
  })
  it('a link that is dead without anybody saying so is replaced, and nothing that was acknowledged is lost', async () => {
    const proxy = await openTcpProxy(inject('postgresUrl'))
    registry = await openTestRegistry({}, proxy.through)
    await registry.publish({ name: 'linked-one' })
    await registry.release('linked-one', '1.0.0')
    proxy.swallow()
    const cut = performance.now()
    const call = await registry.send('POST', '/v1/skills/linked-one/calls', { body: {} })
    expect(call.status).toBe(200)
    await expect
      .poll(
        async () =>
          (await registry.send('POST', '/v1/agents', { body: { id: `after-${Math.round(performance.now())}`, name: 'x' } })).status,
        { timeout: 28_000 },
      )
      .toBe(201)
    console.log(`a dead link was replaced after ${Math.round(performance.now() - cut)} ms`)
    await expect
      .poll(async () => (await registry.sql`select 1 from calls where call_id = ${call.body.meta.call_id ?? ''}`).length, {
        timeout: 15_000,
      })
      .toBe(1)
    expect(registry.bugs).toEqual([])
    proxy.close()
  })
  it('an older database that was restored is read whole, and its epoch raised, so that nothing of later stays', async () => {
    registry = await openTestRegistry()
    await registry.publish({ name: 'restored-one' })
    const before = registry.deps.snapshot()
    await registry.release('restored-one', '1.0.0')
    const [{ revision }] = (await registry.sql`select revision::int from installation`) as unknown as [{ revision: number }]
    await registry.sql`delete from lines`
    await registry.sql`update versions set status = 'candidate'`
    await registry.sql`update skills set revision = ${before.revision}`
    await registry.sql`update installation set revision = ${before.revision}`
    await expect.poll(() => registry.deps.snapshot().epoch, { timeout: 10_000 }).toBe(2)
    const skill = [...registry.deps.snapshot().skills.values()].find(({ name }) => name === 'restored-one')
    expect([registry.deps.snapshot().revision, revision - before.revision, skill?.stable.size, skill?.versions[0]?.status]).toEqual([
      before.revision,
      1,
      0,
      'candidate',
    ])
    await registry.agent('after-restore')
    expect((await registry.send('GET', '/v1/agents?limit=200')).body.data.items.map((item: { id: string }) => item.id)).toContain(
      'after-restore',
    )
  })
  it('503 UNAVAILABLE: a database of another installation gets neither a change nor a row', async () => {
    registry = await openTestRegistry()
    await registry.publish({ name: 'ours-one' })
    await registry.release('ours-one', '1.0.0')
    const [{ install_id: ours }] = (await registry.sql`select install_id from installation`) as unknown as [{ install_id: string }]
    await registry.sql`update installation set install_id = gen_random_uuid()`
    const change = await registry.send('POST', '/v1/agents', { body: { id: 'lost', name: 'x' } })
    const call = await registry.send('POST', '/v1/skills/ours-one/calls', { body: {} })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([change.status, change.body.error?.code, call.status]).toEqual([503, 'UNAVAILABLE', 200])
    expect([await registry.sql`select 1 from calls`, await registry.sql`select 1 from agents where id = 'lost'`]).toEqual([[], []])
    await registry.sql`update installation set install_id = ${ours}`
    await expect.poll(async () => (await registry.sql`select 1 from calls`).length, { timeout: 10_000 }).toBe(1)
  })
})
