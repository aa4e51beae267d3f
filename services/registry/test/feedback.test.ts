import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from './support/test-client.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'
import { rowAt, writeRows } from './support/written-rows.ts'

let registry: TestRegistry
let [agent, other, auditor] = ['', '', '']
const ids: string[] = []
const say = (id: string | undefined, body: object, key: string): Promise<Reply> =>
  registry.send('POST', `/v1/calls/${id ?? ''}/feedback`, { key, body })

beforeAll(async () => {
  registry = await openTestRegistry()
  agent = await registry.agent('worker')
  other = await registry.agent('other')
  auditor = await registry.agent('auditor', { role: 'auditor' })
  const rows = Array.from({ length: 4 }, (_, index) =>
    rowAt(1, { agent_id: 'worker', skill: 'look-up', version: index < 3 ? '1.0.0' : '1.1.0' }),
  )
  ids.push(...rows.map((row) => row.call_id))
  await writeRows(registry, rows)
})
afterAll(() => registry.close())

describe('POST /v1/calls/{id}/feedback', () => {
  it('200: what is said later is added, and what was said before stays', async () => {
    const first = await say(ids[0], { right_skill: true }, agent)
    expect(first.body.data).toMatchObject({ call_id: ids[0], right_skill: true, task_done: null, note: null, by: 'worker' })
    const second = await say(ids[0], { task_done: false, note: 'the order was gone' }, agent)
    expect(second.body.data).toMatchObject({ right_skill: true, task_done: false, note: 'the order was gone' })
    expect((await say(ids[1], { right_skill: true, task_done: true }, auditor)).body.data).toMatchObject({ by: 'auditor' })
    await say(ids[3], { right_skill: false }, agent)
    const { data } = (await registry.send('GET', '/v1/stats/feedback')).body
    expect(data.items).toEqual([
      { skill: 'look-up', version: '1.0.0', calls: 2, right_skill: 2, wrong_skill: 0, task_done: 1, task_not_done: 1 },
      { skill: 'look-up', version: '1.1.0', calls: 1, right_skill: 0, wrong_skill: 1, task_done: 0, task_not_done: 0 },
    ])
    expect((await registry.send('GET', '/v1/stats/feedback', { key: other })).body.data.items).toEqual([])
  })
  it('400 INVALID_REQUEST: nothing said, or something else', async () => {
    for (const body of [{}, { right_skill: 'yes' }, { note: ' ' }, { stars: 5 }])
      expect((await say(ids[0], body, agent)).body.error?.code).toBe('INVALID_REQUEST')
  })
  it('404 NOT_FOUND: the call of somebody else, and none', async () => {
    for (const id of [ids[2], '0192aaaa-0000-7000-8000-000000000000', 'x'])
      expect((await say(id, { task_done: true }, other)).body.error?.code).toBe('NOT_FOUND')
  })
})
