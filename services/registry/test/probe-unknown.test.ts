import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { probeUnknown, type Asked } from '../src/calls/probe-unknown.ts'
import { createApp } from '../src/app.ts'
import { openClaims } from '../src/log/claims.ts'
import { settleOnce } from '../src/log/settle-orphans.ts'
import { openUnknowns } from '../src/log/unknowns.ts'
import { writeEntries } from '../src/log/write-entries.ts'
import type { Deps, Execution, ExecutorResult } from '../src/ports.ts'
import { openDatabase } from '../src/store/connect.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import { newRow } from './support/new-row.ts'
import { createTestClient, type Reply } from './support/test-client.ts'

let registry: TestRegistry
let key: string
/** What the probe says, or how it fails. */
let says: (execution: Execution) => ExecutorResult | Promise<ExecutorResult>
const result = (value: unknown): ExecutorResult => ({ kind: 'result', json: Buffer.from(JSON.stringify(value)) })
const other = '0192aaaa-0000-7000-8000-000000000000'
const get = async (id: string): Promise<Reply['body']['data']> => (await registry.send('GET', `/v1/calls/${id}`)).body.data
const asked = (): Execution[] => registry.executions.filter(({ version }) => version.manifest.name === 'find-mail')
const due = (id: string): Promise<unknown> => registry.sql`update call_unknowns set probe_due_at = now() where call_id = ${id}`
const look = async (): Promise<Asked | undefined> => (await probeUnknown(registry.deps))[0]
const dueOf = async (id: string): Promise<{ probe_due_at: Date | null; probe_tries: number } | undefined> =>
  (
    await registry.sql<
      { probe_due_at: Date | null; probe_tries: number }[]
    >`select probe_due_at, probe_tries from call_unknowns where call_id = ${id}`
  )[0]

/** Sends a call whose process dies in the middle of it, long enough ago to be asked after. */
async function lose(
  skill: string,
  { as = key, args = { to: 'ada' } as object, headers = {} as Record<string, string> } = {},
): Promise<string> {
  let started = (): void => undefined
  const isStarted = new Promise<void>((resolve) => (started = resolve))
  registry.execute((execution) => {
    if (execution.version.manifest.name === 'find-mail') return says(execution)
    started()
    return new Promise(() => undefined)
  })
  void registry.send('POST', `/v1/skills/${skill}/calls`, { key: as, body: { arguments: args }, headers })
  await isStarted
  const id = registry.executions.at(-1)?.callId ?? ''
  await registry.deps.calls.get(id)
  await registry.sql`update call_intents set instance = gen_random_uuid(), spool = gen_random_uuid(), noted_at = now() - interval '1 minute' where call_id = ${id}`
  await settleOnce(registry.sql, {
    installId: registry.deps.snapshot().installId,
    spool: other,
    instance: other,
    openCalls: [],
    isCaughtUp: true,
    steadyMs: 60_000,
  })
  expect(await get(id)).toMatchObject({ outcome: 'unknown', settled: null, probed: null })
  return id
}

/** Sends the call again with its key to another replica: this one still has the one that was lost under way. */
async function sendElsewhere(idempotencyKey: string): Promise<Reply> {
  const database = openDatabase(registry.databaseUrl)
  const elsewhere = createTestClient(createApp({ ...registry.deps, claims: openClaims(() => database.log) }), registry.adminKey)
  try {
    return await elsewhere.send('POST', '/v1/skills/send-it/calls', {
      key,
      body: { arguments: { to: 'ada' } },
      headers: { 'idempotency-key': idempotencyKey },
    })
  } finally {
    await database.close()
  }
}

beforeAll(async () => {
  registry = await openTestRegistry()
  const publish = async (name: string, front: string, input?: object): Promise<void> => {
    const published = await registry.publish({ name, front, ...(input === undefined ? {} : { input }) })
    expect([published.status, (await registry.release(name, '1.0.0')).status]).toEqual([201, 200])
  }
  await publish('find-mail', 'permission: [mail:read]\neffects: read')
  await publish('send-it', 'permission: []\neffects: once\nprobe: find_mail')
  await publish('send-plain', 'permission: []\neffects: once')
  await publish('send-lonely', 'permission: []\neffects: once\nprobe: not-there')
  await publish('do-look', 'permission: []\neffects: idempotent')
  await publish('send-odd', 'permission: []\neffects: once\nprobe: do-look')
  key = await registry.agent('sender', { grants: ['mail:read'] })
  // Everything below is long past its deadline, by the service's clock.
  registry.advance(30_000)
})
afterAll(() => registry.close())
beforeEach(async () => {
  await registry.sql`delete from call_unknowns`
  registry.executions.length = 0
  says = () => result({ happened: null })
})

describe('a call of which nobody knows how it ended', () => {
  it('is settled as happened by its probe: as the agent that called, with what was sent, in a row of its own', async () => {
    const id = await lose('send-it', { headers: { 'idempotency-key': 'p1' } })
    says = () => result({ happened: true, note: 'it is in the outbox' })
    registry.advance(60_000)
    expect(await look()).toMatchObject({ call: id, skill: 'send-it', became: 'happened' })
    const [execution] = asked()
    expect(execution?.arguments).toEqual({ call_id: id, arguments: { to: 'ada' } })
    const row = await get(id)
    expect(row).toMatchObject({
      outcome: 'unknown',
      probed: null,
      settled: {
        happened: true,
        by: 'system',
        reason: 'find-mail 1.0.0 looked, and it happened',
        probe: { skill: 'find-mail', version: '1.0.0', call_id: execution?.callId },
      },
    })
    expect(await get(execution?.callId ?? '')).toMatchObject({
      skill: 'find-mail',
      agent_id: 'sender',
      parent_call_id: id,
      replay_of: null,
      outcome: 'ok',
      input: { call_id: id, arguments: { to: 'ada' } },
      output: { happened: true, note: 'it is in the outbox' },
    })
    const audit = (await registry.send('GET', `/v1/audit?action=call.settle&subject=${id}`)).body.data.items
    expect(audit).toEqual([
      expect.objectContaining({
        caller: 'system',
        subject: id,
        after: { call_id: id, happened: true, probe: row.settled.probe },
      }),
    ])
    const again = await sendElsewhere('p1')
    expect([again.body.error?.code, again.body.error?.effect, await look()]).toEqual(['OUTCOME_UNKNOWN', 'done', undefined])
  })
  it('is settled as not happened, and then its key is free again', async () => {
    const id = await lose('send-it', { headers: { 'idempotency-key': 'p2' } })
    says = () => result({ happened: false })
    registry.advance(60_000)
    expect(await look()).toMatchObject({ became: 'did not happen' })
    expect((await get(id)).settled).toMatchObject({ happened: false, by: 'system' })
    registry.execute(() => result({ sent: 1 }))
    const again = await sendElsewhere('p2')
    expect([again.status, again.body.data]).toEqual([200, { sent: 1 }])
  })
  it('is not asked after before its own deadline and a little more have passed', async () => {
    const id = await lose('send-it')
    expect([await look(), asked().length]).toEqual([undefined, 0])
    const left = await dueOf(id)
    const inMs = Number(left?.probe_due_at) - Date.now()
    expect([left?.probe_tries, inMs > 10_000, inMs < 21_000]).toEqual([0, true, true])
  })
  it('stays unknown when its probe does not know or fails, and is asked after again with growing pauses, six times in all', async () => {
    const id = await lose('send-it')
    registry.advance(60_000)
    const answers: (() => ExecutorResult)[] = [
      () => result({ happened: null }),
      () => result('yes'),
      () => ({ kind: 'skill_error', code: 'NO_IDEA', message: 'secret words', retryable: false, details: [], effect: 'none' }),
      () => ({ kind: 'failed', code: 'EXECUTOR_FAILED', reason: 'threw', message: 'secret words', details: [] }),
      () => ({ kind: 'failed', code: 'TIMEOUT', reason: 'late', message: 'late', details: [] }),
      () => result({ happened: 'true' }),
    ]
    const notes: unknown[] = []
    const pauses: number[] = []
    for (const [index, answer] of answers.entries()) {
      says = answer
      expect((await look())?.call).toBe(id)
      const { probed, settled } = await get(id)
      expect([settled, probed.tries]).toEqual([null, index + 1])
      notes.push(probed.note)
      const next = await dueOf(id)
      pauses.push(next?.probe_due_at === null ? -1 : Math.round((Number(next?.probe_due_at) - Date.now()) / 1000))
      expect(await look()).toBeUndefined()
      await registry.sql`update call_unknowns set probe_due_at = now() where call_id = ${id} and probe_due_at is not null`
    }
    expect(notes).toEqual([
      'find_mail does not know',
      'find_mail could not be asked: OUTPUT_SCHEMA_MISMATCH',
      'find_mail said no',
      'find_mail could not be asked: EXECUTOR_FAILED',
      'find_mail could not be asked: TIMEOUT',
      'find_mail does not know',
    ])
    expect(pauses).toEqual([30, 120, 600, 3600, 21_600, -1])
    expect([(await get(id)).probed.next_at, await look()]).toEqual([null, undefined])
    const settled = await registry.send('POST', `/v1/calls/${id}/settle`, { body: { happened: true, reason: 'looked by hand myself' } })
    expect(settled.body.data).toMatchObject({ settled: { by: 'admin', happened: true }, probed: null })
    expect(settled.body.data.settled.probe).toBeUndefined()
  })
  it('whose asker died with it each time is left after as many tries', async () => {
    const id = await lose('send-it')
    registry.advance(60_000)
    await registry.sql`update call_unknowns set probe_tries = 6 where call_id = ${id}`
    expect(await look()).toMatchObject({ became: 'left', note: 'the probe was asked as often as it may be' })
    expect(asked()).toEqual([])
  })
  it('is left to an operator where its agent lost the right to the probe, with a row that says denied', async () => {
    const loser = await registry.agent('loser', { grants: ['mail:read'] })
    const id = await lose('send-it', { as: loser })
    const [grant] = (await registry.send('GET', '/v1/agents/loser/grants')).body.data.items
    await registry.send('DELETE', `/v1/agents/loser/grants/${grant.id}`)
    says = () => result({ happened: true })
    registry.advance(60_000)
    expect(await look()).toMatchObject({ became: 'left', note: expect.stringContaining('mail:read') })
    const { probed, settled } = await get(id)
    expect([settled, probed.next_at, asked().length, (await dueOf(id))?.probe_due_at]).toEqual([null, null, 0, null])
    expect(await get(probed.call_id)).toMatchObject({ skill: 'find_mail', agent_id: 'loser', outcome: 'denied', parent_call_id: id })
  })
  it('is left to an operator where its agent was disabled', async () => {
    const id = await lose('send-it', { as: await registry.agent('leaver', { grants: ['mail:read'] }) })
    const disabled = await registry.send('PATCH', '/v1/agents/leaver', { body: { disabled: true } })
    registry.advance(60_000)
    expect([disabled.status, await look(), asked().length]).toEqual([200, expect.objectContaining({ became: 'left' }), 0])
    expect((await get(id)).probed).toMatchObject({ tries: 0, call_id: null, note: expect.stringContaining('gone or disabled') })
  })
  it('is left to an operator where what was sent was redacted or is past its days, or a user was behind it', async () => {
    const redacted = await lose('send-it', { args: { to: 'ada', password: 'correct horse' } })
    const old = await lose('send-it')
    await registry.sql`delete from call_payloads where call_id = ${old}`
    const forUser = await lose('send-it')
    await registry.sql`update calls set on_behalf_of = 'ada' where call_id = ${forUser}`
    says = () => result({ happened: true })
    registry.advance(60_000)
    expect((await probeUnknown(registry.deps)).map((one) => 'became' in one && one.became)).toEqual(['left', 'left', 'left'])
    expect(asked()).toEqual([])
    expect((await get(redacted)).probed.note).toContain('not kept as it was')
    expect((await get(old)).probed.note).toContain('not kept as it was')
    expect((await get(forUser)).probed.note).toContain('for a user')
  })
  it('whose probe is missing is asked after later, and one whose probe would do something is left', async () => {
    const lonely = await lose('send-lonely')
    registry.advance(60_000)
    expect(await look()).toMatchObject({ call: lonely, became: 'asked again', note: 'not-there could not be asked: SKILL_NOT_FOUND' })
    expect(await get((await get(lonely)).probed.call_id)).toMatchObject({ outcome: 'not_resolved', parent_call_id: lonely })
    const odd = await lose('send-odd')
    registry.advance(60_000)
    expect(await look()).toMatchObject({ call: odd, became: 'left', note: expect.stringContaining('a probe only reads') })
    expect(registry.executions.filter(({ version }) => version.manifest.name === 'do-look')).toEqual([])
  })
  it('without a probe is passed over, however many there are, and keeps nobody waiting', async () => {
    const plain = await lose('send-plain')
    await registry.sql`insert into call_unknowns (call_id, probe_due_at) select gen_random_uuid(), now() - interval '1 minute' from generate_series(1, 100)`
    const id = await lose('send-it')
    says = () => result({ happened: true })
    registry.advance(60_000)
    expect(await look()).toMatchObject({ call: id, became: 'happened' })
    expect([(await get(plain)).probed, await look(), (await dueOf(plain))?.probe_due_at]).toEqual([null, undefined, null])
  })
  it('is asked after by one of two replicas, and by the other when that one died with it', async () => {
    const id = await lose('send-it')
    registry.advance(60_000)
    const database = openDatabase(registry.databaseUrl)
    const second: Deps = { ...registry.deps, unknowns: openUnknowns(() => database.log) }
    try {
      says = async () => {
        await new Promise((resolve) => setTimeout(resolve, 200))
        return result({ happened: null })
      }
      const both = await Promise.all([probeUnknown(registry.deps), probeUnknown(second), probeUnknown(registry.deps), probeUnknown(second)])
      expect([both.flat().length, asked().length]).toEqual([1, 1])
      await due(id)
      expect((await registry.deps.unknowns.take(8, 50)).map(({ callId, tries }) => [callId, tries])).toEqual([[id, 2]])
      expect(await probeUnknown(second)).toEqual([])
      await new Promise((resolve) => setTimeout(resolve, 100))
      says = () => result({ happened: true })
      expect(await probeUnknown(second)).toMatchObject([{ call: id, became: 'happened' }])
    } finally {
      await database.close()
    }
  })
  it('that somebody settled while its probe was asked stays as they said', async () => {
    const id = await lose('send-it')
    registry.advance(60_000)
    says = async () => {
      await registry.send('POST', `/v1/calls/${id}/settle`, { body: { happened: false, reason: 'looked by hand myself' } })
      return result({ happened: true })
    }
    expect(await look()).toBeUndefined()
    expect((await get(id)).settled).toMatchObject({ happened: false, by: 'admin' })
  })
  it('is what it was once its own row comes late, whatever its probe said', async () => {
    const id = await lose('send-it')
    registry.advance(60_000)
    says = () => result({ happened: false })
    expect(await look()).toMatchObject({ became: 'did not happen' })
    const row = newRow({ call_id: id, skill: 'send-it', agent_id: 'sender', outcome: 'ok' })
    await writeEntries(registry.sql, [{ row, closesIntent: true }], registry.deps.snapshot().installId)
    expect(await get(id)).toMatchObject({ outcome: 'ok', settled: null, probed: null })
    expect([await dueOf(id), await look()]).toEqual([undefined, undefined])
  })
})
