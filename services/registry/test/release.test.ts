import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
})
afterAll(() => registry.close())

const setStatus = async (name: string, version: string, status: string): Promise<void> => {
  await registry.sql`update versions set former_status = status, status = ${status} where version = ${version} and skill_id = (select id from skills where name = ${name})`
}

describe('POST /v1/skills/{name}/versions/{version}/release', () => {
  it('200: the line serves the version at once, and the audit log says who and why', async () => {
    await registry.publish({ name: 'first' })
    const reply = await registry.release('first', '1.0.0')
    expect([reply.status, reply.body.data]).toEqual([
      200,
      {
        name: 'first',
        version: '1.0.0',
        line: '1',
        status: 'released',
        stable: '1.0.0',
        previous_stable: null,
        yanked: [],
        rollouts: [],
        changed: true,
        revision: reply.body.meta.revision,
      },
    ])
    expect((await registry.send('GET', '/v1/skills/first')).body.data.version).toBe('1.0.0')
    const events = await registry.sql`select action, caller, reason from audit_events where subject = 'first@1.0.0' order by seq`
    expect(events.map((event) => [event['action'], event['caller'], event['reason']])).toEqual([
      ['version.publish', 'admin', null],
      ['version.release', 'admin', 'a test releases it'],
    ])
  })
  it('200: releasing again changes nothing', async () => {
    const reply = await registry.release('first', '1.0.0')
    expect([reply.status, reply.body.data.changed]).toEqual([200, false])
  })
  it('200: an older version released later serves its own ranges and never takes the place of a newer one', async () => {
    for (const version of ['1.2.4', '1.4.0']) {
      await registry.publish({ name: 'late', version })
      await registry.release('late', version)
    }
    await registry.publish({ name: 'late', version: '1.2.5' })
    expect((await registry.release('late', '1.2.5')).body.data.stable).toBe('1.4.0')
    const resolved = await registry.send('POST', '/v1/resolve', { body: { requires: { late: '^1' } } })
    const patch = await registry.send('POST', '/v1/resolve', { body: { requires: { late: '~1.2' } } })
    expect([resolved.body.data.resolved.late.version, patch.body.data.resolved.late.version]).toEqual(['1.4.0', '1.2.5'])
  })
  it('200: a pre-release never becomes what a range gets', async () => {
    await registry.publish({ name: 'early', version: '1.0.0-rc.1' })
    expect((await registry.release('early', '1.0.0-rc.1')).body.data.stable).toBeNull()
    expect((await registry.send('GET', '/v1/skills/early?range=1.0.0-rc.1')).body.data.resolution.via).toBe('pinned')
  })
  it('400 INVALID_REQUEST: without a reason', async () => {
    const reply = await registry.send('POST', '/v1/skills/first/versions/1.0.0/release', { body: { reason: 'short' } })
    expect([reply.status, reply.body.error?.code]).toEqual([400, 'INVALID_REQUEST'])
  })
  it('403 ROLE_REQUIRED: a publisher does not release alone', async () => {
    const publisher = await registry.agent('author', { role: 'publisher' })
    const reply = await registry.send('POST', '/v1/skills/first/versions/1.0.0/release', {
      key: publisher,
      headers: { 'if-match': '*' },
      body: { reason: 'I want it out' },
    })
    expect([reply.status, reply.body.error?.code]).toEqual([403, 'ROLE_REQUIRED'])
  })
  it('404 VERSION_NOT_FOUND and SKILL_NOT_FOUND', async () => {
    expect((await registry.release('first', '9.9.9')).body.error?.code).toBe('VERSION_NOT_FOUND')
    expect((await registry.release('nobody', '1.0.0')).body.error?.code).toBe('SKILL_NOT_FOUND')
  })
  it('409 ILLEGAL_TRANSITION: from yanked and from blocked', async () => {
    await registry.publish({ name: 'gone' })
    for (const status of ['yanked', 'blocked']) {
      await setStatus('gone', '1.0.0', status)
      const reply = await registry.release('gone', '1.0.0')
      expect([status, reply.status, reply.body.error?.code]).toEqual([status, 409, 'ILLEGAL_TRANSITION'])
    }
  })
  it('409 ROLLOUT_ACTIVE: while a rollout is under way on the line', async () => {
    await registry.publish({ name: 'rolling' })
    await registry.release('rolling', '1.0.0')
    await registry.publish({ name: 'rolling', version: '1.1.0' })
    const started = await registry.send('POST', '/v1/skills/rolling/rollouts', {
      headers: { 'if-match': '*' },
      body: { version: '1.1.0', percent: 5, force: true, reason: 'a test tries it' },
    })
    expect([started.status, started.body.data.state]).toEqual([201, 'running'])
    const reply = await registry.release('rolling', '1.1.0')
    expect([reply.status, reply.body.error?.code, reply.body.error?.message]).toEqual([
      409,
      'ROLLOUT_ACTIVE',
      'Line 1 of rolling has an active rollout of 1.1.0.',
    ])
  })
  it('never changes what was published, whoever asks the database', async () => {
    await expect(registry.sql`update versions set instructions = 'other' where version = '1.0.0'`).rejects.toThrow(
      'a published version never changes',
    )
    await expect(registry.sql`delete from audit_events`).rejects.toThrow('append-only')
    await expect(registry.sql`truncate audit_events`).rejects.toThrow('append-only')
  })
})
