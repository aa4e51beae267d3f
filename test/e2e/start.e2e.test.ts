import { spawn } from 'node:child_process'
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { houseDir } from '../support/read-house.ts'
import { runToEnd, startProcess, temporaryFolder, type RegistryProcess } from './start-process.ts'

let folder: { readonly path: string; readonly remove: () => Promise<void> }
let environment: Record<string, string>
let registry: RegistryProcess | undefined

beforeAll(async () => {
  folder = await temporaryFolder()
  await mkdir(join(folder.path, 'skills'))
  environment = { REPERTOIRE_DATA_DIR: join(folder.path, 'data'), REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills') }
  await writeSkill('echo-back@1.0.0', '1.0.0', 'text')
})
afterAll(async () => {
  await registry?.end('SIGTERM')
  await folder.remove()
})

function running(): RegistryProcess {
  if (registry === undefined) throw new Error('no registry is running')
  return registry
}

async function writeSkill(name: string, version: string, property: string): Promise<void> {
  const path = join(folder.path, 'skills', name)
  await mkdir(path, { recursive: true })
  await writeFile(
    join(path, 'SKILL.md'),
    `---\nname: ${name.split('@')[0]}\nversion: ${version}\ndescription: Gives back what it gets.\npermission: []\neffects: read\n---\nUse it.\n`,
  )
  await writeFile(join(path, 'input.schema.json'), JSON.stringify({ type: 'object', properties: { [property]: { type: 'string' } } }))
  await writeFile(join(path, 'skill.js'), `export const run = (args) => ({ got: args['${property}'] ?? null })\n`)
}

describe('a registry as a process', () => {
  it('starts on an empty folder, releases what lies in skills, and carries out a call', async () => {
    registry = await startProcess(environment)
    console.log(`first start, database made: ready after ${Math.round(registry.readyMs)} ms`)
    const reply = await registry.send('POST', '/v1/skills/echo-back/calls', { arguments: { text: 'hi' } })
    expect([reply.status, reply.body.data, reply.body.meta.version]).toEqual([200, { got: 'hi' }, '1.0.0'])
    const { mode } = await stat(join(environment['REPERTOIRE_DATA_DIR'] ?? '', 'admin.key'))
    expect((mode & 0o777).toString(8)).toBe('600')
  })
  it('prints a command that works', async () => {
    const command = /curl .*"(http[^"]+)"/.exec(running().output() ?? '')?.[1] ?? ''
    const response = await fetch(command, { headers: { authorization: `Bearer ${running().key}` } })
    const body = (await response.json()) as { data: { items: unknown[] } }
    expect([response.status, body.data.items.length]).toEqual([200, 1])
    expect(running().output()).not.toContain(running().key)
  })
  it('refuses a second process on the same folder in one sentence', async () => {
    const second = await runToEnd({ ...environment, REPERTOIRE_PORT: '0' })
    expect(second).toEqual({
      code: 1,
      output: `repertoire: The data directory ${environment['REPERTOIRE_DATA_DIR']} is in use by process ${running().child.pid}: stop that one first, or set REPERTOIRE_DATA_DIR to another folder.\n`,
    })
  })
  it('is there again after kill -9: Postgres is adopted, and nothing acknowledged is missing', async () => {
    const acknowledged: string[] = []
    let killed = false
    const { send } = running()
    const caller = async (): Promise<void> => {
      while (!killed) {
        const reply = await send('POST', '/v1/skills/echo-back/calls', { arguments: { text: 'x' } }).catch(() => undefined)
        if (reply?.status === 200) acknowledged.push(reply.body.meta.call_id)
      }
    }
    const callers = Array.from({ length: 8 }, caller)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    await running().end('SIGKILL')
    killed = true
    await Promise.all(callers)
    expect(acknowledged.length).toBeGreaterThan(10)

    registry = await startProcess(environment)
    console.log(`start after kill -9: ready after ${Math.round(registry.readyMs)} ms, ${acknowledged.length} calls acknowledged before`)
    expect(registry.output()).toContain('it was still running, and was adopted')
    const rows = new Map<string, number>()
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { body: { data: { items: { call_id: string }[]; next_cursor: string | null } } } = await registry.send(
        'GET',
        `/v1/calls?limit=200${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      for (const row of page.body.data.items) rows.set(row.call_id, (rows.get(row.call_id) ?? 0) + 1)
      cursor = page.body.data.next_cursor
    }
    expect(acknowledged.filter((id) => rows.get(id) !== 1)).toEqual([])
  })
  it('reports a broken folder and one whose bytes changed, with the fix, and starts all the same', async () => {
    await writeSkill('broken-one', '1.0', 'text')
    await writeSkill('echo-back@1.0.0', '1.0.0', 'other')
    await writeSkill('echo-back@1.1.0', '1.1.0', 'text')
    await writeSkill('fresh-one', '1.0.0', 'text')
    expect(await running().end('SIGTERM')).toBe(0)
    registry = await startProcess(environment)
    console.log(`warm start: ready after ${Math.round(registry.readyMs)} ms`)
    const output = registry.output()
    expect(output).toContain('1 released, 1 published as candidates, 0 unchanged, 2 refused')
    expect(output).toContain('✗ broken-one: one problem')
    expect(output).toContain('SKILL.md:3 version 1.0 is not a full semver version')
    expect(output).toContain('→ write "1.0.0"')
    expect(output).toContain(
      '✗ echo-back@1.0.0: echo-back 1.0.0 was published with other bytes, and a published version never changes. raise the version number',
    )
    expect(
      (await registry.send('GET', '/v1/skills/echo-back/versions')).body.data.items.map(
        (item: { version: string; status: string }) => `${item.version} ${item.status}`,
      ),
    ).toEqual(['1.1.0 candidate', '1.0.0 released'])
  })
  it('finishes a running call before it goes, and exits 0 within ten seconds', async () => {
    await writeSkill('slow-one', '1.0.0', 'text')
    await writeFile(
      join(folder.path, 'skills', 'slow-one', 'skill.js'),
      'export const run = () => new Promise((resolve) => setTimeout(() => resolve({ got: "late" }), 1500))\n',
    )
    await running().end('SIGTERM')
    registry = await startProcess(environment)
    const call = registry.send('POST', '/v1/skills/slow-one/calls', { arguments: {} })
    await new Promise((resolve) => setTimeout(resolve, 500))
    const started = performance.now()
    const code = await registry.end('SIGTERM')
    expect([code, (await call).body.data]).toEqual([0, { got: 'late' }])
    expect(performance.now() - started).toBeLessThan(10_000)
    const postmaster = await stat(join(environment['REPERTOIRE_DATA_DIR'] ?? '', 'postgres', 'postmaster.pid')).then(
      () => 'there',
      () => 'gone',
    )
    expect(postmaster).toBe('gone')
  })
  it('comes back by itself when its Postgres is killed', async () => {
    const data = environment['REPERTOIRE_DATA_DIR'] ?? ''
    registry = await startProcess(environment)
    const pid = Number((await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0])
    process.kill(pid, 'SIGKILL')
    const started = performance.now()
    const statuses = new Set<number>()
    while (!statuses.has(200) && performance.now() - started < 30_000) {
      statuses.add((await running().send('POST', '/v1/skills/echo-back/calls', { arguments: {} })).status)
    }
    console.log(`calls are answered again ${Math.round(performance.now() - started)} ms after Postgres was killed`)
    expect([...statuses].filter((status) => status !== 503)).toEqual([200])
    expect(await running().end('SIGTERM')).toBe(0)
  })
})

describe('a start that cannot be', () => {
  it('says so in one sentence and with a non-zero code', async () => {
    const data = join(folder.path, 'other')
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const port = String((taken.address() as AddressInfo).port)
    const inUse = await runToEnd({ REPERTOIRE_DATA_DIR: data, REPERTOIRE_PORT: port, REPERTOIRE_SKILLS_DIR: join(folder.path, 'none') })
    taken.close()
    const typo = await runToEnd({ REPERTOIRE_DATA_DIR: data, REPERTOIRE_DATADIR: 'x' })
    const away = await runToEnd({ REPERTOIRE_DATA_DIR: join(folder.path, 'away'), DATABASE_URL: 'postgres://u:secret@127.0.0.1:1/db' })
    expect(inUse).toEqual({
      code: 1,
      output: `repertoire: Port ${port} on 127.0.0.1 is in use: stop what listens there, or set REPERTOIRE_PORT to another one (0 takes a free one).\n`,
    })
    expect(typo).toEqual({
      code: 2,
      output: 'repertoire: REPERTOIRE_DATADIR is not a variable of ours; REPERTOIRE_DATA_DIR is. Correct its name, or unset it.\n',
    })
    expect(away).toEqual({
      code: 1,
      output:
        'repertoire: Could not reach the Postgres of DATABASE_URL (127.0.0.1:1/db): is it running, and is the address right? (ECONNREFUSED)\n',
    })
  })
  it('is no more in the way of the next one than if it had not begun', async () => {
    const data = join(folder.path, 'cut-short')
    const settings = { REPERTOIRE_DATA_DIR: data, REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'), REPERTOIRE_PORT: '0' }
    for (const afterMs of [150, 400, 700, 1000, 1300, 1700]) {
      const child = spawn(process.execPath, ['services/registry/dist/main.js'], {
        cwd: houseDir,
        env: { PATH: process.env['PATH'] ?? '', ...settings },
        stdio: 'ignore',
      })
      await new Promise((resolve) => setTimeout(resolve, afterMs))
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('exit', resolve))
    }
    const started = await startProcess(settings)
    expect(
      (await started.send('GET', '/v1/skills')).body.data.items.map(
        (skill: { name: string; version: string }) => `${skill.name} ${skill.version}`,
      ),
    ).toContain('echo-back 1.0.0')
    expect(await started.end('SIGTERM')).toBe(0)
  })
  it('gives a database up that hangs up on it, in one sentence', async () => {
    const rude = createTcpServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => rude.listen(0, '127.0.0.1', resolve))
    const { port } = rude.address() as AddressInfo
    const given = await runToEnd({ REPERTOIRE_DATA_DIR: join(folder.path, 'rude'), DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/db` })
    rude.close()
    expect([given.code, given.output]).toEqual([
      1,
      expect.stringContaining(`Could not reach the Postgres of DATABASE_URL (127.0.0.1:${port}/db)`),
    ])
  })
  it('ends with 0 when it is told to stop before it is ready, and leaves nothing in the way', async () => {
    const settings = {
      REPERTOIRE_DATA_DIR: join(folder.path, 'told'),
      REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
      REPERTOIRE_PORT: '0',
    }
    for (const sign of ['registry.lock', 'postgres/postmaster.pid']) {
      const child = spawn(process.execPath, ['services/registry/dist/main.js'], {
        cwd: houseDir,
        env: { PATH: process.env['PATH'] ?? '', ...settings },
        stdio: 'ignore',
      })
      // Once the sign of a step is there, the process is in the middle of its start.
      await expect
        .poll(
          () =>
            stat(join(folder.path, 'told', sign)).then(
              () => true,
              () => false,
            ),
          { timeout: 20_000, interval: 10 },
        )
        .toBe(true)
      child.kill('SIGTERM')
      expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
    }
    const started = await startProcess(settings)
    expect(await started.end('SIGTERM')).toBe(0)
  })
  it('refuses a weak install secret', async () => {
    await mkdir(join(folder.path, 'weak', 'secrets'), { recursive: true })
    await writeFile(join(folder.path, 'weak', 'secrets', 'install'), 'password', { mode: 0o600 })
    const weak = await runToEnd({ REPERTOIRE_DATA_DIR: join(folder.path, 'weak') })
    expect([weak.code, weak.output]).toEqual([1, expect.stringContaining('is shorter than 32 bytes')])
  })
})

describe('two replicas on one database', () => {
  it('start at once, share what is published, and see it at once', async () => {
    const data = join(folder.path, 'shared')
    const first = await startProcess({ REPERTOIRE_DATA_DIR: data, REPERTOIRE_SKILLS_DIR: join(folder.path, 'none') })
    const pid = await readFile(join(data, 'postgres', 'postmaster.pid'), 'utf8')
    const password = (await readFile(join(data, 'secrets', 'postgres'), 'utf8')).trim()
    const url = `postgres://repertoire:${password}@127.0.0.1:${pid.split('\n')[3]}/replicas`
    await import('postgres').then(async ({ default: postgres }) => {
      const sql = postgres(url.replace('/replicas', '/postgres'), { max: 1 })
      await sql`create database replicas`
      await sql.end()
    })
    await cp(join(houseDir, 'skills'), join(folder.path, 'skills2'), { recursive: true })
    const replicas = await Promise.all(
      ['r1', 'r2'].map((name) =>
        startProcess({
          DATABASE_URL: url,
          REPERTOIRE_DATA_DIR: join(folder.path, name),
          REPERTOIRE_REPLICA: name,
          REPERTOIRE_SECRET_FILE: join(folder.path, 'install-secret'),
          REPERTOIRE_ADMIN_KEY_FILE: join(folder.path, 'shared.key'),
          REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
        }),
      ),
    )
    const key = (await readFile(join(folder.path, 'shared.key'), 'utf8')).trim()
    const [one, two] = replicas
    const made = await one?.send('POST', '/v1/agents', { id: 'shared', name: 'x' }, key)
    const granted = await one?.send('POST', '/v1/agents/shared/keys', {}, key)
    const started = performance.now()
    let seen = 0
    while (seen !== 200 && performance.now() - started < 4 * 3000)
      seen = (await two?.send('GET', '/v1/agents/self', undefined, granted?.body.data.key))?.status ?? 0
    console.log(`a key made on one replica is known to the other after ${Math.round(performance.now() - started)} ms`)
    expect([made?.status, seen]).toEqual([201, 200])
    expect(await Promise.all(replicas.map((replica) => replica.end('SIGTERM')))).toEqual([0, 0])
    expect(await first.end('SIGTERM')).toBe(0)
  })
})
