import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from '../../services/registry/test/support/tcp-proxy.ts'
import { startSharedDatabase, type SharedDatabase } from '../e2e/database-for-replicas.ts'
import { command } from '../e2e/skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from '../e2e/start-process.ts'
import { openShop, type Shop } from './shop.ts'

/** A disk of a few megabytes, which only root can make. */
const megabytes = 56
const canMount = ((): boolean => {
  try {
    return (
      process.getuid?.() === 0 &&
      execFileSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=1m tmpfs "$d" && umount "$d" && echo yes'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).includes('yes')
    )
  } catch {
    return false
  }
})()

describe.skipIf(!canMount)('a disk that is full (skipped where no small disk can be mounted)', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let database: SharedDatabase
  let proxy: TcpProxy
  let registry: RegistryProcess
  let shop: Shop
  let key = ''
  const acknowledged: string[] = []
  const disk = (): string => join(folder.path, 'disk')
  const call = (): ReturnType<RegistryProcess['send']> =>
    registry.send('POST', '/v1/skills/plain-one/calls', { arguments: { n: '1', text: 'x'.repeat(50_000) } }, key)
  beforeAll(async () => {
    folder = await temporaryFolder()
    await mkdir(disk())
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', disk()])
    database = await startSharedDatabase(folder.path)
    proxy = await openTcpProxy(database.url)
    registry = await startProcess({
      DATABASE_URL: proxy.through(database.url),
      REPERTOIRE_DATA_DIR: disk(),
      REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
      REPERTOIRE_LOG_LEVEL: 'silent',
    })
    shop = await openShop(1)
    await registry.send('POST', '/v1/connections', { name: 'shop', base_url: shop.url })
    const open = JSON.stringify({ type: 'object', properties: {}, additionalProperties: true })
    const front = 'permission: []\neffects: read\nexecutor: {kind: http, connection: shop, path: /orders, method: POST}'
    const files = {
      'SKILL.md': `---\nname: plain-one\nversion: 1.0.0\ndescription: It reads.\n${front}\n---\nUse it.\n`,
      'input.schema.json': open,
      'output.schema.json': open,
    }
    const published = await registry.send('POST', '/v1/skills', { files })
    if (published.status !== 201) throw new Error(JSON.stringify(published.body))
    await command(registry, 'skills/plain-one/versions/1.0.0/release')
    await registry.send('POST', '/v1/agents', { id: 'caller', name: 'caller' })
    key = (await registry.send('POST', '/v1/agents/caller/keys', {})).body.data.key
    const first = await call()
    if (first.status !== 200) throw new Error(JSON.stringify(first.body))
  })
  afterAll(async () => {
    await registry.end('SIGTERM')
    proxy.close()
    shop.close()
    await database.close()
    execFileSync('umount', ['-l', disk()])
    await folder.remove()
  })
  it('refuses calls with 503 and Retry-After, goes on reading, and loses nothing it acknowledged', async () => {
    // Without the database everything stays on the disk; something else takes most of it as well.
    proxy.cut()
    await writeFile(join(disk(), 'something-else'), Buffer.alloc(18 * 1024 * 1024))
    let reply = await call()
    while (reply.status === 200 && acknowledged.length < 2000) {
      acknowledged.push(reply.body.meta.call_id)
      reply = await call()
    }
    const refused = await fetch(`${registry.url}/v1/skills/plain-one/calls`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ arguments: { text: 'x'.repeat(50_000) } }),
    })
    expect([refused.status, refused.headers.get('retry-after'), JSON.parse(await refused.text()).error.code]).toEqual([
      503,
      '2',
      'LOG_UNAVAILABLE',
    ])
    expect(acknowledged.length).toBeGreaterThan(50)
    const [list, resolved] = await Promise.all([
      registry.send('GET', '/v1/skills', undefined, key),
      registry.send('POST', '/v1/resolve', { requires: { 'plain-one': '*' } }, key),
    ])
    expect([list.status, resolved.status]).toEqual([200, 200])
    await proxy.mend()
    await expect.poll(async () => (await call()).status, { timeout: 30_000 }).toBe(200)
    const stored = async (): Promise<number> =>
      (await database.sql`select call_id from calls where call_id::text in ${database.sql(acknowledged)}`).length
    await expect.poll(stored, { timeout: 30_000 }).toBe(acknowledged.length)
    console.log(`a disk of ${megabytes} MB was full after ${acknowledged.length} calls without the database; all of them are there`)
    await command(registry, 'skills/plain-one/versions/1.0.0/deprecate')
  }, 120_000)
})
