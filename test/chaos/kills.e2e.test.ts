import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command } from '../e2e/skill-source.ts'
import { temporaryFolder, type RegistryProcess } from '../e2e/start-process.ts'
import { startCluster, type Cluster } from './cluster.ts'
import { openShop, type Shop } from './shop.ts'

/** How often something is killed: a few times in every test run, fifty in `npm run test:chaos`. */
const rounds = Number(process.env['CHAOS_ROUNDS'] ?? 5)
const callers = 64
const replicaCount = 3

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let cluster: Cluster
let shop: Shop
let key = ''

const front = (effects: string, path: string): string =>
  `permission: []\neffects: ${effects}\nexecutor: {kind: http, connection: shop, path: ${path}, method: POST}`
const files = (name: string, effects: string, path: string): Record<string, string> => ({
  'SKILL.md': `---\nname: ${name}\nversion: 1.0.0\ndescription: It counts.\n${front(effects, path)}\n---\nUse it.\n`,
  'input.schema.json': JSON.stringify({ type: 'object', properties: { n: { type: 'string' } }, required: ['n'] }),
  'output.schema.json': JSON.stringify({ type: 'object' }),
})

beforeAll(async () => {
  folder = await temporaryFolder()
  shop = await openShop(15)
  cluster = await startCluster(folder.path, replicaCount)
  const [first] = cluster.replicas()
  if (first === undefined) throw new Error('no replica runs')
  const registry: RegistryProcess = {
    ...first,
    key: cluster.key,
    send: (method, path, body) => first.send(method, path, body, cluster.key),
  }
  await registry.send('POST', '/v1/connections', { name: 'shop', base_url: shop.url })
  for (const [name, effects, path] of [
    ['order-once', 'once\ntimeout_ms: 5000', '/orders'],
    ['read-order', 'read\ntimeout_ms: 5000', '/orders'],
    ['order-alone', 'once\ntimeout_ms: 800\nconcurrency: 1', '/single'],
  ] as const) {
    const published = await registry.send('POST', '/v1/skills', { files: files(name, effects, path) })
    if (published.status !== 201) throw new Error(JSON.stringify(published.body))
    await command(registry, `skills/${name}/versions/1.0.0/release`)
  }
  await registry.send('POST', '/v1/agents', { id: 'caller', name: 'caller' })
  key = (await registry.send('POST', '/v1/agents/caller/keys', {})).body.data.key
})
afterAll(async () => {
  await cluster.close()
  shop.close()
  await folder.remove()
})

type Acknowledged = {
  readonly callId: string
  readonly n: string
  readonly isKeyed: boolean
  readonly text: string
  readonly status: number
  readonly isReplay: boolean
}

/** Sends one call to any replica that is up; undefined when no whole answer came. */
async function send(n: string, skill: string, idempotencyKey?: string): Promise<Acknowledged | undefined> {
  const up = cluster.replicas().filter((replica) => replica !== undefined)
  const replica = up[Math.floor(Math.random() * up.length)]
  if (replica === undefined) return undefined
  try {
    const response = await fetch(`${replica.url}/v1/skills/${skill}/calls`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ arguments: { n } }),
      signal: AbortSignal.timeout(20_000),
    })
    const text = await response.text()
    const envelope = JSON.parse(text)
    const isReplay = response.headers.get('idempotency-replayed') === 'true'
    return { callId: envelope.meta.call_id ?? '', n, isKeyed: idempotencyKey !== undefined, text, status: response.status, isReplay }
  } catch {
    return undefined
  }
}

// Refusals that say that there is no row, or that are about another call.
const withoutRow = /"code":"(LOG_UNAVAILABLE|CALL_IN_FLIGHT|OUTCOME_UNKNOWN|IDEMPOTENCY_MISMATCH|UNAVAILABLE|BUSY|SNAPSHOT_STALE)"/

describe('64 callers, while replicas and Postgres are killed at random', () => {
  const acknowledged: Acknowledged[] = []
  let sent = 0
  const keysWithTwoAnswers = (): string[] => {
    const answers = new Map<string, Set<string>>()
    for (const { isKeyed, n, status, text } of acknowledged)
      if (isKeyed && status === 200) answers.set(n, (answers.get(n) ?? new Set()).add(text))
    return [...answers].filter(([, texts]) => texts.size > 1).map(([n]) => n)
  }
  it(
    'go on, and nothing else happens',
    async () => {
      let isOver = false
      let keys = Array.from({ length: 12 }, () => `key-${randomUUID()}`)
      const caller = async (): Promise<void> => {
        while (!isOver) {
          const kind = Math.random()
          const idempotencyKey = kind < 0.3 ? keys[Math.floor(Math.random() * keys.length)] : undefined
          sent += 1
          const skill = kind < 0.65 ? 'order-once' : kind < 0.7 ? 'order-alone' : 'read-order'
          const n = idempotencyKey ?? `${skill === 'read-order' ? 'read' : 'once'}-${randomUUID()}`
          const answer = await send(n, skill, idempotencyKey)
          if (answer === undefined) await pause(50)
          else acknowledged.push(answer)
        }
      }
      const running = Array.from({ length: callers }, caller)
      try {
        for (let round = 0; round < rounds; round += 1) {
          await pause(300 + Math.random() * 900)
          keys = Array.from({ length: 12 }, () => `key-${randomUUID()}`)
          const victim = Math.floor(Math.random() * (replicaCount + 1))
          // Of five rounds in a row, one is Postgres' for sure.
          if (victim === replicaCount || round % 5 === 2) await cluster.killPostgres()
          else {
            await cluster.killReplica(victim)
            await pause(Math.random() * 300)
            await cluster.startReplica(victim)
          }
        }
        await pause(1000)
      } finally {
        isOver = true
        await Promise.all(running)
      }
      expect(cluster.fallen).toEqual([])
      console.log(`${sent} calls sent, ${acknowledged.length} answered, over ${rounds} kills`)
      expect(acknowledged.filter((answer) => answer.status === 200).length).toBeGreaterThan(rounds * 20)
    },
    60_000 + rounds * 20_000,
  )
  it('every acknowledged call has its row, none has two, and every effect has one', async () => {
    // What dead processes left is drained by those that took their places; nobody has to do anything.
    const settled = async (): Promise<unknown> => {
      // Intents are counted last: one that still lies in a spool is in no table yet, and was once taken for none.
      let spooled = 0
      const degraded: string[] = []
      for (const replica of cluster.replicas()) {
        const metrics = await (await fetch(`${replica?.url}/metrics`, { headers: { authorization: `Bearer ${cluster.key}` } })).text()
        spooled += Number(/^repertoire_spool_bytes (\S+)$/m.exec(metrics)?.[1])
        const said = (await (await fetch(`${replica?.url}/readyz`)).json()) as { readonly degraded: string[] }
        if (said.degraded.length > 0) degraded.push(...said.degraded, replica?.output().slice(-2500) ?? '')
      }
      const [left] = await cluster.sql`select (select count(*) from call_intents)::int as intents`
      return [spooled, left?.['intents'], degraded]
    }
    await expect.poll(settled, { timeout: 90_000, interval: 500 }).toEqual([0, 0, []])
    const rows = await cluster.sql<{ call_id: string; outcome: string; n: string }[]>`
        select c.call_id, c.outcome, convert_from(p.input, 'UTF8')::json ->> 'n' as n from calls c join call_payloads p using (call_id)`
    const ids = new Set(rows.map((row) => row.call_id))
    const numbers = new Map<string, number>()
    for (const { n } of rows) numbers.set(n, (numbers.get(n) ?? 0) + 1)
    const happensOnce = [...shop.effects].filter(([n]) => !n.startsWith('read'))
    console.log(
      `${rows.length} rows, ${rows.filter((row) => row.outcome === 'unknown').length} of them unknown; ${happensOnce.length} effects that happen once`,
    )
    const few = <T>(found: readonly T[]): readonly T[] => found.slice(0, 5)
    expect({
      acknowledgedWithoutRow: few(
        acknowledged
          .filter(({ isReplay, text, callId }) => !isReplay && !withoutRow.test(text) && !ids.has(callId))
          .map(({ text }) => text),
      ),
      rowsThatStandTwice: few([...numbers].filter(([, times]) => times > 1)),
      effectsWithoutRow: few(happensOnce.filter(([n]) => !numbers.has(n))),
      effectsThatHappenedTwice: few(happensOnce.filter(([, times]) => times > 1)),
      keysWithTwoAnswers: few(keysWithTwoAnswers()),
      atOnceWhereOneMayBe: shop.mostAtOnce(),
    }).toEqual({
      acknowledgedWithoutRow: [],
      rowsThatStandTwice: [],
      effectsWithoutRow: [],
      effectsThatHappenedTwice: [],
      keysWithTwoAnswers: [],
      atOnceWhereOneMayBe: 1,
    })
    const difference = async (): Promise<unknown> => {
      const [found] = await cluster.sql`
        with recount as (select skill, outcome, coalesce(error_code, '') as error_code, count(*) as calls, sum(attempts) as attempts from calls group by 1, 2, 3),
          counted as (select skill, outcome, error_code, sum(calls) as calls, sum(attempts) as attempts from call_days group by 1, 2, 3 having sum(calls) <> 0)
        select (select count(*)::int from ((table recount except table counted) union all (table counted except table recount)) as d) as cells, (select count(*)::int > 1 from counted) as counted`
      return found
    }
    // What is counted follows the rows within seconds.
    await expect.poll(difference, { timeout: 20_000, interval: 500 }).toEqual({ cells: 0, counted: true })
  }, 120_000)
})
