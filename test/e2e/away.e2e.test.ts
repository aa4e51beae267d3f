import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTcpProxy, type TcpProxy } from '../../services/registry/test/support/tcp-proxy.ts'
import { startSharedDatabase, type SharedDatabase } from './database-for-replicas.ts'
import { command, publish, skillFiles } from './skill-source.ts'
import { runToEnd, startProcess, temporaryFolder, type Envelope, type RegistryProcess } from './start-process.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let proxy: TcpProxy
let registry: RegistryProcess
let environment: Record<string, string>
let agentKey = ''
const acknowledged: string[] = []

beforeAll(async () => {
  folder = await temporaryFolder()
  for (const [name, permission] of [
    ['plain-one', []],
    ['risky-one', ['network']],
  ] as const) {
    const skill = join(folder.path, 'skills', name)
    await mkdir(skill, { recursive: true })
    for (const [file, text] of Object.entries(skillFiles(name, '1.0.0', permission))) await writeFile(join(skill, file), text)
  }
  database = await startSharedDatabase(folder.path)
  proxy = await openTcpProxy(database.url)
  environment = {
    DATABASE_URL: proxy.through(database.url),
    REPERTOIRE_DATA_DIR: join(folder.path, 'r1'),
    REPERTOIRE_REPLICA: 'r1',
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
  }
  registry = await startProcess(environment)
  await publish(registry, { name: 'plain-one', version: '1.1.0', candidate: true })
  await command(registry, 'skills/plain-one/rollouts', { version: '1.1.0', percent: 100, force: true })
  await registry.send('POST', '/v1/agents', { id: 'asker', name: 'asker' })
  await registry.send('POST', '/v1/agents/asker/grants', { pattern: 'network', reason: 'a test grants it' })
  agentKey = (await registry.send('POST', '/v1/agents/asker/keys', {})).body.data.key
})
afterAll(async () => {
  await registry.end('SIGTERM')
  proxy.close()
  await database.close()
  await folder.remove()
})

const ask = (method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly body: Envelope }> =>
  registry.send(method, path, body, agentKey)
const call = async (name: string, range?: string): Promise<Envelope> => {
  const reply = await ask('POST', `/v1/skills/${name}/calls`, { arguments: {}, ...(range === undefined ? {} : { range }) })
  if (reply.status === 200) acknowledged.push(reply.body.meta.call_id)
  return reply.body
}
/** Starts again while the database is away, with what the disk kept, as if it had been confirmed some time ago. */
const restart = async (confirmedMsAgo: number): Promise<void> => {
  await registry.end('SIGTERM')
  const confirmedAt = Date.now() - confirmedMsAgo
  const snapshot = join(folder.path, 'r1', 'snapshot')
  const noted = JSON.parse(await readFile(join(snapshot, 'confirmed'), 'utf8').catch(() => '{}'))
  await writeFile(join(snapshot, 'confirmed'), JSON.stringify({ ...noted, confirmedAt }))
  const [header = '', ...parts] = (await readFile(join(snapshot, 'catalogue'), 'utf8')).trimEnd().split('\n').slice(0, -1)
  const text = `${[JSON.stringify({ ...JSON.parse(header), confirmedAt }), ...parts].join('\n')}\n`
  await writeFile(join(snapshot, 'catalogue'), `${text}${JSON.stringify({ sha256: createHash('sha256').update(text).digest('hex') })}\n`)
  registry = await startProcess(environment)
}

describe('a replica whose database is away', () => {
  it('goes on answering lists, resolutions, descriptions and plain calls, and says how old they are', async () => {
    expect((await call('plain-one', '1.0.0')).data).toEqual({ version: '1.0.0' })
    // The disk has what was last known a moment after it changed.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    proxy.cut()
    await new Promise((resolve) => setTimeout(resolve, 6000))
    const list = await ask('GET', '/v1/skills')
    const skill = await ask('GET', '/v1/skills/plain-one?range=^1')
    const resolved = await ask('POST', '/v1/resolve', { requires: { 'plain-one': '^1' } })
    const called = await call('plain-one', '1.0.0')
    expect([list.status, skill.status, resolved.body.data.resolved['plain-one'].version, called.data]).toEqual([
      200,
      200,
      '1.1.0',
      { version: '1.0.0' },
    ])
    for (const { meta } of [list.body, skill.body, resolved.body, called]) expect(meta.stale_ms).toBeGreaterThan(5000)
    expect((await (await fetch(`${registry.url}/readyz`)).json()) as Envelope).toMatchObject({ ready: true, degraded: ['database_away'] })
  })
  it('refuses changes with UNAVAILABLE, a rollback too', async () => {
    const started = performance.now()
    const made = await registry.send('POST', '/v1/agents', { id: 'late', name: 'x' })
    expect([made.status, made.body.error.code]).toEqual([503, 'UNAVAILABLE'])
    const rollback = await registry.send('POST', '/v1/rollouts/01980000-0000-7000-8000-000000000000/rollback', {
      reason: 'a test tries it',
    })
    expect([rollback.status, rollback.body.error.code, performance.now() - started < 4 * 2000]).toEqual([503, 'UNAVAILABLE', true])
  })
  it('starts again from what the disk kept, code included, and says so', async () => {
    await restart(3000)
    expect(registry.output()).toContain('the database is away; changes are refused until it is back')
    expect((await ask('GET', '/v1/skills/plain-one?range=^1')).body.data.version).toBe('1.1.0')
    expect((await call('plain-one', '1.0.0')).data).toEqual({ version: '1.0.0' })
    expect((await call('risky-one')).data).toEqual({ version: '1.0.0' })
  })
  it('after a minute unconfirmed, canaries give way and what could do harm is not called: SNAPSHOT_STALE', async () => {
    await restart(65_000)
    const skill = await ask('GET', '/v1/skills/plain-one?range=^1')
    expect([skill.body.data.version, skill.body.data.resolution.via, skill.body.meta.stale_ms > 60_000]).toEqual(['1.0.0', 'stable', true])
    expect((await call('plain-one', '^1')).data).toEqual({ version: '1.0.0' })
    const risky = await ask('POST', '/v1/skills/risky-one/calls', { arguments: {} })
    expect([risky.status, risky.body.error.code]).toEqual([503, 'SNAPSHOT_STALE'])
    expect((await ask('GET', '/v1/skills/risky-one')).status).toBe(200)
  })
  it('after a quarter of an hour it answers nothing but SNAPSHOT_STALE', async () => {
    await restart(901_000)
    for (const path of ['/v1/skills', '/v1/skills/plain-one', '/v1/agents/self']) {
      const reply = await ask('GET', path)
      expect([path, reply.status, reply.body.error.code]).toEqual([path, 503, 'SNAPSHOT_STALE'])
    }
    expect((await fetch(`${registry.url}/healthz`)).status).toBe(200)
  })
  it('refuses a catalogue on disk that is not whole, and one of another installation', async () => {
    await registry.end('SIGTERM')
    const file = join(folder.path, 'r1', 'snapshot', 'catalogue')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('plain-one', 'plain-two'))
    const broken = await runToEnd({ ...environment, REPERTOIRE_PORT: '0' })
    expect([broken.code, broken.output]).toEqual([1, expect.stringContaining('Could not reach the Postgres of DATABASE_URL')])
    await writeFile(file, text)
    await proxy.mend()
    await database.sql`update installation set install_id = gen_random_uuid()`
    const other = await runToEnd({ ...environment, REPERTOIRE_PORT: '0' })
    expect([other.code, other.output]).toEqual([1, expect.stringContaining('belongs to installation')])
    await database.sql`update installation set install_id = ${JSON.parse(text.split('\n')[0] ?? '').installId}`
    proxy.cut()
    registry = await startProcess(environment)
  })
  it('heals within 4 × 2 s of the database’s return: fresh again, changes taken, every acknowledged call there once', async () => {
    await proxy.mend()
    const started = performance.now()
    let reply = await ask('GET', '/v1/skills')
    while (reply.status !== 200 || reply.body.meta.stale_ms !== undefined) {
      if (performance.now() - started > 30_000) break
      reply = await ask('GET', '/v1/skills')
    }
    const healedMs = Math.round(performance.now() - started)
    console.log(`fresh ${healedMs} ms after the database's return`)
    expect(healedMs).toBeLessThan(4 * 2000)
    await expect
      .poll(async () => (await registry.send('POST', '/v1/agents', { id: 'after', name: 'x' })).status, { timeout: 8000 })
      .toBe(201)
    await expect
      .poll(async () => (await database.sql`select call_id from calls where call_id::text in ${database.sql(acknowledged)}`).length, {
        timeout: 8000,
      })
      .toBe(acknowledged.length)
    const twice = await database.sql`select call_id from calls group by 1 having count(*) > 1`
    expect([acknowledged.length > 3, twice.length]).toEqual([true, 0])
  })
})
