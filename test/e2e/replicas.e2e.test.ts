import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSharedDatabase, type SharedDatabase } from './database-for-replicas.ts'
import { command, publish, skillFiles } from './skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from './start-process.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let replicas: RegistryProcess[]
const names = ['r1', 'r2', 'r3']

const startReplica = (name: string): Promise<RegistryProcess> =>
  startProcess({
    DATABASE_URL: database.url,
    REPERTOIRE_DATA_DIR: join(folder.path, name),
    REPERTOIRE_REPLICA: name,
    REPERTOIRE_SECRET_FILE: join(folder.path, 'install-secret'),
    REPERTOIRE_ADMIN_KEY_FILE: join(folder.path, 'admin.key'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
  })
const first = (): RegistryProcess => {
  const [replica] = replicas
  if (replica === undefined) throw new Error('no replica runs')
  return replica
}
beforeAll(async () => {
  folder = await temporaryFolder()
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    const skill = join(folder.path, 'skills', version === '1.0.0' ? 'seeded-one' : `seeded-one@${version}`)
    await mkdir(skill, { recursive: true })
    for (const [name, text] of Object.entries(skillFiles('seeded-one', version))) await writeFile(join(skill, name), text)
  }
  database = await startSharedDatabase(folder.path)
  replicas = await Promise.all(names.map(startReplica))
  const key = (await import('node:fs')).readFileSync(join(folder.path, 'admin.key'), 'utf8').trim()
  replicas = replicas.map((replica) => ({ ...replica, key, send: (method, path, body) => replica.send(method, path, body, key) }))
  await publish(first(), { name: 'moving', version: '1.0.0' })
  await publish(first(), { name: 'moving', version: '1.1.0', candidate: true })
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGTERM')))
  await database.close()
  await folder.remove()
})

const resolved = async (
  replica: RegistryProcess,
): Promise<{ readonly version: string; readonly via: string; readonly revision: number }> => {
  const { body } = await replica.send('POST', '/v1/resolve', { requires: { moving: '^1' } })
  return { ...body.data.resolved.moving, revision: body.data.revision }
}
/** Milliseconds from the moment a command is sent until every replica answers with a version. */
const untilAll = async (version: string, send: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  const all = replicas.map(async (replica) => {
    while ((await resolved(replica)).version !== version)
      if (performance.now() - started > 20_000) throw new Error(`${version} never arrived`)
  })
  await Promise.all([send(), ...all])
  return performance.now() - started
}
const listeners = async (): Promise<readonly unknown[]> =>
  database.sql`select pid from pg_stat_activity where query ilike 'listen %' and datname = 'replicas'`
const startCanary = async (): Promise<string> => {
  const { data } = await command(first(), 'skills/moving/rollouts', { version: '1.1.0', percent: 100, unit: 'agent', force: true })
  return String(data['id'])
}
const quantile = (values: readonly number[], at: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? 0)
}

describe('three replicas on one database', () => {
  it('obey a start and a rollback everywhere: p99 within 4 × 250 ms of sending it, where the listeners are up', async () => {
    const taken: number[] = []
    for (let round = 0; round < 25; round += 1) {
      let id = ''
      taken.push(await untilAll('1.1.0', async () => (id = await startCanary())))
      taken.push(await untilAll('1.0.0', () => command(first(), `rollouts/${id}/rollback`)))
      await command(first(), 'skills/moving/versions/1.1.0/unyank')
    }
    console.log(
      `command sent → 3 replicas answer accordingly: p50 ${quantile(taken, 0.5)} ms, p99 ${quantile(taken, 0.99)} ms (${taken.length} commands)`,
    )
    expect(quantile(taken, 0.99)).toBeLessThan(4 * 250)
  })
  it('obey within 4 × 3 s when the listeners were killed and the notification was lost', async () => {
    const taken: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const id = await startCanary()
      await untilAll('1.1.0', async () => undefined)
      await expect.poll(async () => (await listeners()).length, { timeout: 10_000 }).toBe(3)
      taken.push(
        await untilAll('1.0.0', async () => {
          const killed =
            await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %' and datname = 'replicas'`
          expect(killed.length).toBe(3)
          await command(first(), `rollouts/${id}/rollback`)
        }),
      )
      await command(first(), 'skills/moving/versions/1.1.0/unyank')
    }
    console.log(`with every listener killed just before: ${taken.map(Math.round).join(', ')} ms`)
    expect(Math.max(...taken)).toBeLessThan(4 * 3000)
  })
  it('each keep where the audit log ends, whoever of them appended to it', async () => {
    const ends = async (): Promise<unknown> =>
      Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder.path, name, 'audit-head'), 'utf8')).head.seq))
    for (const replica of replicas) {
      await replica.send('POST', '/v1/agents', { id: `agent-${replicas.indexOf(replica)}`, name: 'x' })
      const [row] = await database.sql`select max(seq)::int as last from audit_events`
      await expect.poll(ends, { timeout: 5000 }).toEqual(names.map(() => row?.['last']))
      expect((await replica.send('GET', '/v1/audit/verify')).body.data).toMatchObject({ ok: true, tail_checked: true })
    }
  })
  it('give the content of a revision whenever they name it, on every route and replica, while it changes all the time', async () => {
    const contents = new Map<number, string>()
    const clashes: string[] = []
    let answers = 0
    let isOver = false
    const note = (revision: number, content: string): void => {
      answers += 1
      const known = contents.get(revision)
      if (known === undefined) contents.set(revision, content)
      else if (known !== content) clashes.push(`revision ${revision}: ${known} and ${content}`)
    }
    const readers = replicas.flatMap((replica) => [
      async () => {
        const { version, via, revision } = await resolved(replica)
        note(revision, `${version} ${via}`)
      },
      async () => {
        const { body } = await replica.send('GET', '/v1/skills/moving?range=^1')
        note(body.meta.revision, `${body.data.version} ${body.data.resolution.via}`)
      },
      async () => {
        const { body } = await replica.send('GET', '/v1/skills/moving/versions')
        const candidate = body.data.items[0]
        const stable = body.data.items.find((item: { stable: boolean }) => item.stable)
        const isCanary = candidate.rollout !== null && candidate.rollout.percent === 100
        note(body.meta.revision, isCanary ? `${candidate.version} canary` : `${stable.version} stable`)
      },
    ])
    const reading = readers.map(async (read) => {
      while (!isOver) await read()
    })
    for (let round = 0; round < 14; round += 1) {
      const id = await startCanary()
      await command(first(), `rollouts/${id}/${round % 2 === 0 ? 'rollback' : 'cancel'}`)
      if (round % 2 === 0) await command(first(), 'skills/moving/versions/1.1.0/unyank')
    }
    isOver = true
    await Promise.all(reading)
    console.log(`${answers} answers over ${contents.size} revisions`)
    expect([clashes.slice(0, 5), answers > 300, contents.size > 12]).toEqual([[], true, true])
  })
  it('say which of them obey: a stopped one is lagging, one that signed off is not waited for', async () => {
    const id = await startCanary()
    const rolledBack = await command(first(), `rollouts/${id}/rollback?wait=3s`)
    expect([rolledBack.data['applied'], rolledBack.data['lagging'], rolledBack.data['unreachable']]).toEqual([names, [], []])
    await command(first(), 'skills/moving/versions/1.1.0/unyank')
    const again = await startCanary()
    const third = replicas[2]
    third?.child.kill('SIGSTOP')
    const stopped = await command(first(), `rollouts/${again}/rollback?wait=500ms`).finally(() => third?.child.kill('SIGCONT'))
    expect([stopped.data['applied'], stopped.data['lagging']]).toEqual([['r1', 'r2'], ['r3']])
    await expect.poll(async () => (third === undefined ? '' : (await resolved(third)).version), { timeout: 12_000 }).toBe('1.0.0')
    await command(first(), 'skills/moving/versions/1.1.0/unyank')
    await third?.end('SIGTERM')
    replicas.pop()
    const without = await command(first(), `rollouts/${await startCanary()}/rollback?wait=3s`)
    expect([without.data['applied'], without.data['lagging'], without.data['unreachable']]).toEqual([['r1', 'r2'], [], []])
  })
  it('keep every status over a restart: after a rollback, a revert, a yank and a block', async () => {
    const states = async (replica: RegistryProcess): Promise<unknown> =>
      (await replica.send('GET', '/v1/skills/seeded-one/versions')).body.data.items.map((item: Record<string, unknown>) => [
        item['version'],
        item['status'],
        item['stable'],
      ])
    const restarted = async (): Promise<unknown> => {
      const second = replicas.pop()
      await second?.end('SIGTERM')
      const fresh = await startReplica('r2')
      replicas.push({ ...fresh, key: first().key, send: (method, path, body) => fresh.send(method, path, body, first().key) })
      return states(replicas[1] ?? fresh)
    }
    const steps: (readonly [string, () => Promise<unknown>])[] = [
      ['revert', () => command(first(), 'skills/seeded-one/lines/1/revert', { to: '1.1.0' })],
      ['yank', () => command(first(), 'skills/seeded-one/versions/1.1.0/yank')],
      ['block', () => command(first(), 'skills/seeded-one/versions/1.1.0/block')],
      [
        'rollback',
        async () => {
          await publish(first(), { name: 'seeded-one', version: '1.3.0', candidate: true })
          const { data } = await command(first(), 'skills/seeded-one/rollouts', { version: '1.3.0', percent: 100, force: true })
          await command(first(), `rollouts/${data['id']}/promote`)
          await command(first(), `rollouts/${data['id']}/rollback`)
        },
      ],
    ]
    for (const [what, step] of steps) {
      await step()
      const before = await states(first())
      expect([what, await restarted()]).toEqual([what, before])
    }
    expect(await states(first())).toEqual([
      ['1.3.0', 'yanked', false],
      ['1.2.0', 'yanked', false],
      ['1.1.0', 'blocked', false],
      ['1.0.0', 'released', true],
    ])
  })
})
