import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from '../../services/registry/test/support/tcp-proxy.ts'
import { startSharedDatabase, type SharedDatabase } from '../e2e/database-for-replicas.ts'
import { command } from '../e2e/skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from '../e2e/start-process.ts'
import { sendLoad } from './send-load.ts'
import { openShop, type Shop } from './shop.ts'

/** How long Postgres is off. A disk that others use as well takes longer for a row than a call may wait, so `npm run test:chaos` alone runs it. */
const asked = process.env['AWAY_SECONDS']
const seconds = Number(asked ?? 6)
const perSecond = 500

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let proxy: TcpProxy
let shop: Shop
let registry: RegistryProcess
let key = ''

beforeAll(async () => {
  folder = await temporaryFolder()
  database = await startSharedDatabase(folder.path)
  proxy = await openTcpProxy(database.url)
  shop = await openShop(1)
  registry = await startProcess({
    DATABASE_URL: proxy.through(database.url),
    REPERTOIRE_DATA_DIR: join(folder.path, 'r1'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
    REPERTOIRE_LOG_LEVEL: 'silent',
    // A machine that stalls for half a second has 250 calls waiting; that is not what is tried here.
    REPERTOIRE_CONCURRENCY: '2048',
  })
  await registry.send('POST', '/v1/connections', { name: 'shop', base_url: shop.url })
  const open = JSON.stringify({ type: 'object', properties: { n: { type: 'string' } } })
  const front = 'permission: []\neffects: read\nexecutor: {kind: http, connection: shop, path: /orders, method: POST}'
  const files = {
    'SKILL.md': `---\nname: read-order\nversion: 1.0.0\ndescription: It reads.\n${front}\n---\nUse it.\n`,
    'input.schema.json': open,
    'output.schema.json': open,
  }
  const published = await registry.send('POST', '/v1/skills', { files })
  if (published.status !== 201) throw new Error(JSON.stringify(published.body))
  await command(registry, 'skills/read-order/versions/1.0.0/release')
  await registry.send('POST', '/v1/agents', { id: 'caller', name: 'caller' })
  key = (await registry.send('POST', '/v1/agents/caller/keys', {})).body.data.key
})
afterAll(async () => {
  await registry.end('SIGTERM')
  proxy.close()
  await database.close()
  shop.close()
  await folder.remove()
})

describe.skipIf(asked === undefined)(`Postgres is off while ${perSecond} plain calls come every second (in npm run test:chaos)`, () => {
  it(
    'no call fails, every one has its row afterwards, and what is counted is what is there',
    async () => {
      const path = '/v1/skills/read-order/calls'
      const sending = sendLoad({ url: registry.url, path, key, body: '{"arguments":{"n":"1"}}', perSecond, seconds: seconds + 2 })
      await pause(1000)
      proxy.cut()
      await pause(seconds * 1000)
      await proxy.mend()
      const back = performance.now()
      const { statuses, unanswered } = await sending
      const good = statuses.get(200) ?? 0
      const bad = [...statuses.values()].reduce((sum, count) => sum + count, 0) - good
      const rows = async (): Promise<number> =>
        Number((await database.sql`select count(*)::int as n from calls where skill = 'read-order'`)[0]?.['n'])
      await expect.poll(rows, { timeout: 60_000, interval: 200 }).toBeGreaterThanOrEqual(good)
      console.log(
        `${good} calls while Postgres was off for ${seconds} s, ${bad} failed; all rows there ${Math.round(performance.now() - back)} ms after its return`,
      )
      expect([bad, unanswered, good === (seconds + 2) * perSecond]).toEqual([0, 0, true])
      expect(await rows()).toBe(good)
      const counted = async (): Promise<unknown> =>
        (await database.sql`select (select sum(calls)::int from call_days) = (select count(*)::int from calls) as same`)[0]?.['same']
      await expect.poll(counted, { timeout: 20_000 }).toBe(true)
    },
    120_000 + seconds * 2000,
  )
})
