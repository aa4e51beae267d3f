import { appendFile, cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../src/config.ts'
import { findMissing } from '../src/log/missing-replicas.ts'
import { openCallLog, type OpenCallLog } from '../src/log/open-call-log.ts'
import { takeDataDirectory } from '../src/start/data-directory.ts'
import { drainSpool } from '../src/start/drain-spool.ts'
import { openDatabase, type Database } from '../src/store/connect.ts'
import { newRow } from './support/new-row.ts'
import { openApplicationLog } from '../src/start/application-log.ts'
import { openTestRegistry, type TestRegistry } from './support/test-registry.ts'

let registry: TestRegistry
let database: Database
let dataDir: string
let lines: string[] = []
const folders: string[] = []
const newFolder = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'repertoire-lost-'))
  folders.push(folder)
  return folder
}
const drain = (directory = dataDir, url = registry.databaseUrl, patienceMs = 60_000): Promise<string> =>
  drainSpool(readConfig({ DATABASE_URL: url }, '/').config, { directory, say: (line) => void lines.push(line), patienceMs })
/** The log of a replica that acknowledges calls and brings none of them anywhere before it begins. */
const openLost = (instance: string, directory = dataDir): Promise<OpenCallLog> =>
  openCallLog({
    database,
    logger: openApplicationLog({ level: 'silent', replica: 'lost', redaction: registry.deps.redaction }, { write: () => undefined }),
    folder: join(directory, 'spool'),
    maxBytes: 64 * 1024 * 1024,
    acknowledge: 'spool',
    instance,
  })
const row = (agent: string): ReturnType<typeof newRow> =>
  newRow({ call_id: registry.deps.ids.next(), agent_id: agent, input: Buffer.from('{}') })
const countOf = async (agent: string): Promise<number> =>
  Number((await registry.sql`select count(*)::int as n from calls where agent_id = ${agent}`)[0]?.['n'])
const beat = (instance: string, ago: string): Promise<unknown> =>
  registry.sql`insert into replicas (instance, name, started_at, last_seen_at, applied_revision)
    values (${instance}::uuid, 'lost', now() - interval '1 hour', now() - ${ago}::text::interval, 1)`
const missing = async (): Promise<string[]> => (await findMissing(registry.sql)).map(({ instance }) => instance)

beforeAll(async () => {
  registry = await openTestRegistry()
  database = openDatabase(registry.databaseUrl)
  dataDir = await newFolder()
})
afterAll(async () => {
  await database.close()
  await registry.close()
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})
afterEach(() => (lines = []))

describe('the spool of a replica that never comes back', () => {
  it('is brought to the database whole, each row once, and what had no end is told as unknown', async () => {
    const instance = registry.deps.ids.next()
    await beat(instance, '6 minutes')
    expect(await missing()).toEqual([instance])
    const log = await openLost(instance)
    for (let index = 0; index < 2500; index += 500) await Promise.all(Array.from({ length: 500 }, () => log.append({ row: row('whole') })))
    const [begun, ended] = [row('begun'), row('ended')]
    await log.intend(begun, 'once')
    await log.intend(ended, 'once')
    await log.append({ row: ended, closesIntent: true })
    expect(await countOf('whole')).toBe(0)
    // No close: the process is gone, and its disk is carried elsewhere.
    const carried = await newFolder()
    await cp(dataDir, carried, { recursive: true })
    expect(await drain(carried)).toMatch(/^2503 rows of .*spool are in Postgres, and nothing is left in it; calls told as unknown: 1\.$/)
    expect([await countOf('whole'), await countOf('ended'), lines.at(-1)]).toEqual([2500, 1, '2503 rows brought'])
    const told = await registry.sql`select agent_id, outcome from calls where agent_id in ('begun', 'ended') order by agent_id`
    expect(told.map((each) => each['outcome'])).toEqual(['unknown', 'ok'])
    expect([await missing(), (await registry.sql`select 1 from call_intents`).length]).toEqual([[], 0])
    // Again, also from the folder itself, and of the same rows on the first disk.
    expect(await drain(join(carried, 'spool'))).toMatch(/^0 rows of .* unknown: 0\.$/)
    expect(await drain()).toMatch(/^2503 rows of .* unknown: 0\.$/)
    expect([await countOf('whole'), await countOf('begun')]).toEqual([2500, 1])
  })
  it('is not told as caught up by the next process while a part of it lies in a file that was set aside', async () => {
    const directory = await newFolder()
    const before = await openLost(registry.deps.ids.next(), directory)
    const lost = row('behind')
    await before.intend(lost, 'once')
    await before.append({ row: lost, closesIntent: true })
    const last = row('last')
    for (let index = 0; index < 140; index += 1) await before.append({ row: { ...row('fill'), input: Buffer.alloc(64 * 1024) } })
    await before.append({ row: last })
    // No close: the process is gone. The next one has the files open when one of them goes bad.
    const next = await openLost(registry.deps.ids.next(), directory)
    const names = (await readdir(join(directory, 'spool')))
      .filter((name) => name.endsWith('.seg'))
      .map((name) => join(directory, 'spool', name))
    for (const name of names) {
      const bytes = await readFile(name)
      if (bytes.readUInt32BE(12) !== 1) continue
      const second = 16 + 8 + bytes.readUInt32BE(16)
      bytes[second + 40] = (bytes[second + 40] ?? 0) ^ 1
      await writeFile(name, bytes)
    }
    await next.begin(registry.deps.snapshot().installId)
    await expect.poll(() => countOf('last')).toBe(1)
    expect([await next.lookForOrphans(), (await next.get(lost.call_id))?.state]).toEqual([0, 'running'])
    await next.close()
    // The start after that saves the row.
    const after = await openLost(registry.deps.ids.next(), directory)
    await after.begin(registry.deps.snapshot().installId)
    await expect.poll(() => countOf('fill')).toBe(140)
    await after.close()
  })
  it('is refused while a process has the directory, where it is of another installation, and where there is none', async () => {
    await expect(drain(await newFolder())).rejects.toThrow(/There is no spool in/)
    await (await openLost(registry.deps.ids.next())).append({ row: row('kept') })
    const held = await takeDataDirectory(dataDir)
    await expect(drain()).rejects.toThrow(/is in use by process/)
    await held.release()
    const other = await openTestRegistry()
    // Databases of tests are clones of one.
    await other.sql`update installation set install_id = gen_random_uuid()`
    await expect(drain(dataDir, other.databaseUrl)).rejects.toThrow(/holds calls of installation/)
    expect((await other.sql`select 1 from calls`).length).toBe(0)
    await other.close()
    await expect(drain(dataDir, registry.databaseUrl.replace(/\/[^/]*$/, '/postgres'))).rejects.toThrow(/holds no registry/)
    await expect(drain(dataDir, 'postgres://u:p@127.0.0.1:1/x')).rejects.toThrow(/Could not reach/)
    await expect(drainSpool(readConfig({}, '/').config, { directory: dataDir, say: () => undefined })).rejects.toThrow(/DATABASE_URL/)
    expect(await countOf('kept')).toBe(0)
    expect(await drain()).toMatch(/^1 rows/)
    expect(await countOf('kept')).toBe(1)
  })
  it('keeps what cannot be brought: where the database takes nothing, and a row it refuses', async () => {
    const instance = registry.deps.ids.next()
    await beat(instance, '6 minutes')
    const log = await openLost(instance)
    const [begun, strange] = [row('open'), newRow({ ...row('strange'), call_id: 'no uuid at all' })]
    await log.intend(begun, 'once')
    for (const each of [row('left'), strange, row('left')]) await log.append({ row: each })
    await registry.sql`alter table calls rename to calls_away`
    await expect(drain(dataDir, registry.databaseUrl, 1500)).rejects.toThrow(
      /^0 rows of .*the rest could not be brought and stays where it is/,
    )
    await registry.sql`alter table calls_away rename to calls`
    expect([await countOf('left'), await missing()]).toEqual([0, [instance]])
    const said = await drain()
    expect(said).toMatch(/^4 rows of .*; 1 could not be taken whole and are kept in .*refused\.ndjson, and nothing is left in it.*: 1\.$/)
    expect([await countOf('left'), await missing()]).toEqual([2, []])
    const kept = JSON.parse(await readFile(join(dataDir, 'spool', 'refused.ndjson'), 'utf8')) as { call_id: string; entry: string }
    expect([kept.call_id, Buffer.from(kept.entry, 'base64').toString()]).toEqual(['no uuid at all', expect.stringContaining('strange')])
  })
  it('saves of a damaged file what can be saved, and keeps the file', async () => {
    const damaged = await newFolder()
    const log = await openLost(registry.deps.ids.next(), damaged)
    for (let index = 0; index < 5; index += 1) await log.append({ row: row('damaged') })
    const [name = ''] = (await readdir(join(damaged, 'spool'))).filter((each) => each.endsWith('.seg'))
    const bytes = await readFile(join(damaged, 'spool', name))
    bytes[bytes.indexOf('damaged')] = 88
    await writeFile(join(damaged, 'spool', name), bytes)
    expect(await drain(damaged)).toMatch(/^4 rows/)
    expect([await countOf('damaged'), lines[0]]).toEqual([4, expect.stringMatching(/damaged in 1 place: 4 rows were saved/)])
  })
})

describe('a replica that went without a word', () => {
  it('is missing after five minutes, until a process on the same disk has brought its calls', async () => {
    const [first, second, elsewhere] = [registry.deps.ids.next(), registry.deps.ids.next(), registry.deps.ids.next()]
    const directory = await newFolder()
    await beat(first, '4 minutes')
    await beat(elsewhere, '1 day')
    expect(await missing()).toEqual([elsewhere])
    await registry.sql`update replicas set last_seen_at = now() - interval '6 minutes' where instance = ${first}::uuid`
    expect(await missing()).toEqual([elsewhere, first])
    await (await openLost(first, directory)).append({ row: row('before') })
    const next = await openLost(second, directory)
    expect(await missing()).toEqual([elsewhere, first])
    await next.begin(registry.deps.snapshot().installId)
    await expect.poll(missing).toEqual([elsewhere])
    expect(await countOf('before')).toBe(1)
    await expect.poll(() => readFile(join(directory, 'spool', 'instances'), 'utf8')).toBe(`${second}\n`)
    await next.close()
    // Who left is missed by nobody, whatever else is in that file.
    await appendFile(join(directory, 'spool', 'instances'), `nonsense\n${elsewhere}\n`)
    expect(await drain(directory)).toMatch(/^0 rows/)
    expect(await missing()).toEqual([])
  })
})
