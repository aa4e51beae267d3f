import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { houseDir } from '../support/read-house.ts'
import { startSharedDatabase, type SharedDatabase } from './database-for-replicas.ts'
import { publish } from './skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from './start-process.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let stays: RegistryProcess
let goes: RegistryProcess
const startReplica = (name: string): Promise<RegistryProcess> =>
  startProcess({
    DATABASE_URL: database.url,
    REPERTOIRE_DATA_DIR: join(folder.path, name),
    REPERTOIRE_REPLICA: name,
    REPERTOIRE_SECRET_FILE: join(folder.path, 'install-secret'),
    REPERTOIRE_ADMIN_KEY_FILE: join(folder.path, 'admin.key'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
  })
const drain = (name: string): { readonly code: number | null; readonly said: string } => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['packages/cli/bin/repertoire.js', 'spool', 'drain', join(folder.path, name)],
    {
      cwd: houseDir,
      env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: database.url },
      encoding: 'utf8',
    },
  )
  return { code: status, said: stdout + stderr }
}
const degraded = async (): Promise<readonly string[]> => {
  const answer = (await (await fetch(`${stays.url}/readyz`)).json()) as { readonly degraded: readonly string[] }
  return answer.degraded
}
beforeAll(async () => {
  folder = await temporaryFolder()
  database = await startSharedDatabase(folder.path)
  stays = await startReplica('stays')
  goes = await startReplica('goes')
  const key = (await readFile(join(folder.path, 'admin.key'), 'utf8')).trim()
  const withKey = (replica: RegistryProcess): RegistryProcess => ({
    ...replica,
    key,
    send: (method, path, body) => replica.send(method, path, body, key),
  })
  stays = withKey(stays)
  goes = withKey(goes)
  await publish(stays, { name: 'counting', version: '1.0.0' })
})
afterAll(async () => {
  await stays.end('SIGTERM')
  if (goes.child.signalCode === null) await goes.end('SIGKILL')
  await database.close()
  await folder.remove()
})

describe('a replica that dies with calls on its disk', () => {
  it('is missed until its spool is drained, and no acknowledged call is lost', async () => {
    await expect.poll(async () => (await goes.send('GET', '/v1/skills/counting')).status, { timeout: 10_000 }).toBe(200)
    // Whoever holds the lock of the log keeps every replica from bringing anything to Postgres.
    const release = await holdTheLog()
    const ids: string[] = []
    for (let index = 0; index < 20; index += 1)
      ids.push((await goes.send('POST', '/v1/skills/counting/calls', { arguments: {} })).body.meta.call_id as string)
    expect(drain('goes')).toEqual({ code: 1, said: expect.stringMatching(/in use by process \d+/) as string })
    await goes.end('SIGKILL')
    await release()
    const found = async (): Promise<number> => (await database.sql`select 1 from calls where call_id = any(${ids}::uuid[])`).length
    expect([new Set(ids).size, await found()]).toEqual([20, 0])
    expect(await degraded()).not.toContain('replica_missing')
    await database.sql`update replicas set last_seen_at = now() - interval '6 minutes' where name = 'goes'`
    await expect.poll(degraded, { timeout: 15_000 }).toContain('replica_missing')
    expect((await fetch(`${stays.url}/readyz`)).status).toBe(200)
    const drained = drain('goes')
    expect(drained).toEqual({
      code: 0,
      said: expect.stringMatching(/\d+ rows of .*goes\/spool are in Postgres, and nothing is left/) as string,
    })
    expect(await found()).toBe(20)
    await expect.poll(degraded, { timeout: 15_000 }).not.toContain('replica_missing')
    expect(drain('goes').said).toMatch(/^0 rows/)
    expect(drain('never').code).toBe(2)
  })
})

async function holdTheLog(): Promise<() => Promise<void>> {
  const held = await database.sql.reserve()
  await held`select pg_advisory_lock(${0x5245504c})`
  return async () => {
    await held`select pg_advisory_unlock(${0x5245504c})`
    held.release()
  }
}
