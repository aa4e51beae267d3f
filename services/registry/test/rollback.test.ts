import { applyPlan, nameKey, nothingToDo, parseRange, Refusal, tryResolve, type SkillRecord } from '@repertoire/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Data, Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import { advanceRollouts } from '../src/rollouts/advance-rollouts.ts'

let registry: TestRegistry
beforeAll(async () => {
  registry = await openTestRegistry()
  await registry.agent('someone')
})
afterAll(() => registry.close())

const post = (path: string, body: object = {}): Promise<Reply> =>
  registry.send('POST', `/v1/${path}`, { headers: { 'if-match': '*' }, body: { reason: 'a test tries it', ...body } })
const agents = Array.from({ length: 10_000 }, (_, n) => `agent-${n}`)
const skillNow = (name: string): SkillRecord => {
  const skill = registry.deps.snapshot().skills.get(nameKey(name))
  if (skill === undefined) throw new Error(`${name} is not there`)
  return skill
}
const resolveFor = (skill: SkillRecord, agent: string, range: string): string => {
  const found = tryResolve(skill, [parseRange(range)], {
    agentId: agent,
    team: null,
    pinsCandidates: false,
    holds: () => true,
    units: { agent },
  })
  return typeof found === 'function' ? found().code : found.version.version
}
/** How many of the first agents get the candidate from the catalogue this replica holds now. */
const exposure = (name: string, candidate: string, of = 200): number => {
  const skill = skillNow(name)
  return agents.slice(0, of).filter((agent) => resolveFor(skill, agent, '^1') === candidate).length
}
let count = 0
const rollout = async (body: object = {}): Promise<{ readonly name: string; readonly id: string }> => {
  count += 1
  const name = `again-${count}`
  await registry.publish({ name })
  await registry.release(name, '1.0.0')
  await registry.publish({ name, version: '1.1.0' })
  const started = await post(`skills/${name}/rollouts`, { version: '1.1.0', percent: 30, force: true, ...body })
  expect(started.status).toBe(201)
  return { name, id: started.body.data.id }
}
const states: Record<string, (id: string) => Promise<unknown>> = {
  scheduled: async () => undefined,
  running: async () => undefined,
  paused: (id) => post(`rollouts/${id}/pause`),
  'at 100 %': (id) => post(`rollouts/${id}/set-percent`, { percent: 100 }),
  promoted: (id) => post(`rollouts/${id}/promote`),
}

describe('a rollback always wins', () => {
  it.each(Object.keys(states))('from %s: nobody of 10 000 gets the candidate by a range, and again it changes nothing', async (state) => {
    const { name, id } = await rollout(state === 'scheduled' ? { start_at: '2126-01-01T00:00:00Z' } : {})
    await states[state]?.(id)
    const before = exposure(name, '1.1.0')
    const reply = await post(`rollouts/${id}/rollback`)
    expect([reply.status, reply.body.data.state, reply.body.data.changed]).toEqual([200, 'rolled_back', true])
    const skill = skillNow(name)
    for (const range of ['^1', '*', '>=1.1.0', '~1.1']) {
      const got = new Set(agents.map((agent) => resolveFor(skill, agent, range)))
      expect([range, got.has('1.1.0')]).toEqual([range, false])
    }
    expect([before >= 0, (await post(`rollouts/${id}/rollback`)).body.data.changed]).toEqual([true, false])
    const asBefore = applyPlan(skill, nothingToDo)
    expect(agents.slice(0, 500).every((agent) => resolveFor(asBefore, agent, '^1') === '1.0.0')).toBe(true)
  })

  const rivals: Record<string, (id: string) => Promise<unknown>> = {
    promote: (id) => post(`rollouts/${id}/promote`),
    'set-percent': (id) => post(`rollouts/${id}/set-percent`, { percent: 90 }),
    'a scheduled step': () => advanceRollouts(registry.deps),
  }
  it.each(Object.keys(rivals))('against a concurrent %s: exposure never rises once it has fallen, and ends at nobody', async (rival) => {
    for (let round = 0; round < 5; round += 1) {
      const { name, id } = await rollout(rival === 'a scheduled step' ? { steps: [{ percent: 60, dwell: '0s' }, { percent: 95 }] } : {})
      const samples: number[] = []
      let isOver = false
      const sampling = (async () => {
        while (!isOver) {
          samples.push(exposure(name, '1.1.0', 60))
          await new Promise((resolve) => setImmediate(resolve))
        }
      })()
      const [, rolledBack] = await Promise.all([rivals[rival]?.(id), post(`rollouts/${id}/rollback`), rivals[rival]?.(id)])
      await rivals[rival]?.(id)
      isOver = true
      await sampling
      const fell = samples.findIndex((sample) => sample === 0)
      expect([rolledBack.status, rolledBack.body.data.state]).toEqual([200, 'rolled_back'])
      expect(samples.slice(fell === -1 ? samples.length : fell).every((sample) => sample === 0)).toBe(true)
      expect(exposure(name, '1.1.0')).toBe(0)
      expect(skillNow(name).stable.get('1')?.version).toBe('1.0.0')
    }
  })
  it('twenty at once: one changes something, all are answered, nobody gets the candidate', async () => {
    const { name, id } = await rollout()
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(`rollouts/${id}/rollback`)))
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 200))
    expect(replies.filter((reply) => reply.body.data.changed)).toHaveLength(1)
    expect(exposure(name, '1.1.0')).toBe(0)
  })
  it('goes through while every other connection is taken, and the answer names the replicas that obey', async () => {
    const { name, id } = await rollout()
    const held: Promise<unknown>[] = []
    const hold = (): Promise<unknown> => {
      const holding = new Promise((resolve) => setTimeout(resolve, 3000))
      held.push(holding)
      return holding
    }
    const holders = Array.from({ length: 12 }, () => registry.deps.store.transaction(hold))
    const started = performance.now()
    const reply = await registry.send('POST', `/v1/rollouts/${id}/rollback?wait=3s`, { body: { reason: 'a test is in a hurry' } })
    expect([reply.status, reply.body.data.applied, reply.body.data.lagging, reply.body.data.unreachable]).toEqual([200, ['test'], [], []])
    expect(performance.now() - started).toBeLessThan(2500)
    expect(exposure(name, '1.1.0')).toBe(0)
    // They are given up before they end, and hold their connections until they do.
    await Promise.allSettled([...holders, ...held])
  })
  it('names a replica that was not heard of for seconds, and leaves out one that is gone for minutes or has signed off', async () => {
    await registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision, left_at) values
      (gen_random_uuid(), 'silent', now(), now() - interval '10 seconds', 1, null), (gen_random_uuid(), 'behind', now(), now(), 1, null),
      (gen_random_uuid(), 'gone', now(), now() - interval '6 minutes', 1, null), (gen_random_uuid(), 'left', now(), now(), 1, now())`
    const { id } = await rollout()
    const { applied, lagging, unreachable } = (
      await registry.send('POST', `/v1/rollouts/${id}/rollback?wait=100ms`, { body: { reason: 'a test is in a hurry' } })
    ).body.data
    expect([applied, lagging, unreachable]).toEqual([['test'], ['behind'], ['silent']])
    await registry.sql`delete from replicas where name <> 'test'`
    expect(
      (await registry.send('POST', `/v1/rollouts/${id}/rollback?wait=31s`, { body: { reason: 'a test waits' } })).body.error?.code,
    ).toBe('INVALID_REQUEST')
  })
  it('what follows never brings it back: later promotions do not make a range reach it', async () => {
    const { name, id } = await rollout()
    await post(`rollouts/${id}/promote`)
    await post(`rollouts/${id}/rollback`)
    for (const version of ['1.0.1', '1.2.0', '1.9.0']) {
      await registry.publish({ name, version })
      const started = await post(`skills/${name}/rollouts`, { version, percent: 100, force: true })
      await post(`rollouts/${started.body.data.id}/promote`)
      for (const range of ['^1', '~1.1', '>=1.1.0 <1.2.0', '<=1.1.0'])
        expect([version, range, resolveFor(skillNow(name), 'someone', range) === '1.1.0']).toEqual([version, range, false])
    }
  })
})

describe('automation', () => {
  const stepped = {
    percent: 5,
    steps: [{ percent: 5, dwell: '10m' }, { percent: 25, dwell: '10m' }, { percent: 50, dwell: '10m' }, { percent: 100 }],
  }
  const get = async (id: string): Promise<Data> => (await registry.send('GET', `/v1/rollouts/${id}`)).body.data
  const after = async (minutes: number): Promise<void> => {
    registry.advance(minutes * 60_000)
    await advanceRollouts(registry.deps)
  }

  it('takes each step when its dwell is over, once over all replicas, and stops at 100 % until somebody promotes', async () => {
    const { name, id } = await rollout(stepped)
    const seen: number[] = []
    for (const minutes of [9, 2, 10, 10, 60]) {
      registry.advance(minutes * 60_000)
      await Promise.all([advanceRollouts(registry.deps), advanceRollouts(registry.deps), advanceRollouts(registry.deps)])
      seen.push((await get(id)).percent)
    }
    expect([seen, (await get(id)).state, (await get(id)).next_move_at]).toEqual([[5, 25, 50, 100, 100], 'running', null])
    const events = await registry.sql`select action, caller from audit_events where skill = ${name} and caller = 'system'`
    expect(events.map((event) => event['action'])).toEqual(['rollout.step', 'rollout.step', 'rollout.step'])
    expect((await post(`rollouts/${id}/rollback`)).body.data.state).toBe('rolled_back')
    expect(exposure(name, '1.1.0')).toBe(0)
  })
  it('begins at start_at, and exposes nobody before', async () => {
    const at = new Date(registry.deps.clock.now().getTime() + 3_600_000).toISOString()
    const { name, id } = await rollout({ percent: 100, start_at: at })
    expect([(await get(id)).state, exposure(name, '1.1.0')]).toEqual(['scheduled', 0])
    await after(59)
    expect([(await get(id)).state, exposure(name, '1.1.0')]).toEqual(['scheduled', 0])
    await after(2)
    expect([(await get(id)).state, exposure(name, '1.1.0')]).toEqual(['running', 200])
  })
  it('pauses as a conflict where somebody set another share, and goes on from there once resumed', async () => {
    const { id } = await rollout(stepped)
    await post(`rollouts/${id}/set-percent`, { percent: 30 })
    await after(11)
    const paused = await get(id)
    expect([paused.state, paused.paused_reason, paused.paused_note, paused.percent]).toEqual([
      'paused',
      'conflict',
      'somebody set 30 %, where the steps had 5 %',
      30,
    ])
    await post(`rollouts/${id}/resume`)
    await after(11)
    expect([(await get(id)).percent, (await get(id)).state]).toEqual([50, 'running'])
  })
  it('pauses as a conflict where the line serves something else by now', async () => {
    const { name, id } = await rollout(stepped)
    await post(`skills/${name}/versions/1.0.0/yank`)
    await after(11)
    expect([(await get(id)).paused_reason, (await get(id)).paused_note]).toEqual([
      'conflict',
      'line 1 serves nothing now, and served 1.0.0 when this rollout began',
    ])
  })
  it('is held after a manual rollback of the same skill until somebody resumes', async () => {
    const { name, id } = await rollout()
    await registry.publish({ name, version: '2.0.0' })
    const other = await post(`skills/${name}/rollouts`, { version: '2.0.0', force: true, ...stepped })
    await post(`rollouts/${id}/rollback`)
    expect([(await get(other.body.data.id)).state, (await get(other.body.data.id)).paused_reason]).toEqual(['paused', 'held'])
    await after(60)
    expect((await get(other.body.data.id)).percent).toBe(5)
    await post(`rollouts/${other.body.data.id}/resume`)
    await after(11)
    expect((await get(other.body.data.id)).percent).toBe(25)
  })
  it('holds what was to begin later as well, and a resume gives it its time back', async () => {
    const { name, id } = await rollout()
    const at = new Date(registry.deps.clock.now().getTime() + 3_600_000).toISOString()
    await registry.publish({ name, version: '2.0.0' })
    const later = (await post(`skills/${name}/rollouts`, { version: '2.0.0', percent: 100, force: true, start_at: at })).body.data
    await post(`rollouts/${id}/rollback`)
    expect([(await get(later.id)).state, resolveFor(skillNow(name), 'someone', '*')]).toEqual(['paused', '1.0.0'])
    expect((await post(`rollouts/${later.id}/promote`)).body.error?.code).toBe('ILLEGAL_TRANSITION')
    await post(`rollouts/${later.id}/resume`)
    expect((await get(later.id)).state).toBe('scheduled')
    await after(61)
    expect(resolveFor(skillNow(name), 'someone', '*')).toBe('2.0.0')
  })
  it('tells what kept a rollout from moving, and moves the others', async () => {
    const { id } = await rollout(stepped)
    registry.advance(11 * 60_000)
    const refusing = {
      ...registry.deps,
      store: {
        ...registry.deps.store,
        transaction: async () => {
          throw new Refusal('BUSY', 'taken')
        },
      },
    }
    const told = await advanceRollouts(refusing)
    expect(told.find((advanced) => advanced.rollout === id)).toEqual({ rollout: id, fault: expect.objectContaining({ code: 'BUSY' }) })
    expect((await advanceRollouts(registry.deps)).find((advanced) => advanced.rollout === id)).toEqual({
      rollout: id,
      action: 'rollout.step',
    })
  })
  it('left no fault of ours', () => expect(registry.bugs).toEqual([]))
})
