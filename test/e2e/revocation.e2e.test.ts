import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSharedDatabase, type SharedDatabase } from './database-for-replicas.ts'
import { skillFiles } from './skill-source.ts'
import { startProcess, temporaryFolder, type Envelope, type RegistryProcess } from './start-process.ts'

type Reply = { readonly status: number; readonly etag: string; readonly body: Envelope }
type Agent = { readonly id: string; readonly key: string; readonly keyId: string; readonly grantId: string; readonly skill: string }
type Ask = { readonly key: string; readonly method?: string; readonly body?: object; readonly etag?: string }

const rounds = 10
const promised = { listeningMs: 250, deafMs: 3000 }
const reason = 'a test tries it'
const longMs = 1500
const long = `export const run = () => new Promise((resolve) => setTimeout(() => resolve({ secret: 'the answer' }), ${longMs}))\n`

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let replicas: readonly RegistryProcess[] = []
let adminKey = ''

beforeAll(async () => {
  folder = await temporaryFolder()
  await writeSkill('open-one')
  await writeSkill('vault-one', ['vault'])
  await writeSkill('long-one', ['vault'], long)
  for (let round = 0; round <= rounds; round += 1) await writeSkill(`blocked-${round}`, ['vault'])
  database = await startSharedDatabase(folder.path)
  replicas = await Promise.all(['r1', 'r2', 'r3'].map(startReplica))
  adminKey = (await readFile(join(folder.path, 'admin.key'), 'utf8')).trim()
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.end('SIGTERM')))
  await database.close()
  await folder.remove()
})

// A playbook, whose answer is its instructions, unless it brings code.
async function writeSkill(name: string, permission: readonly string[] = [], code?: string): Promise<void> {
  const path = join(folder.path, 'skills', name)
  await mkdir(path, { recursive: true })
  const files = skillFiles(name, '1.0.0', permission)
  if (code === undefined) await writeFile(join(path, 'SKILL.md'), files['SKILL.md'] ?? '')
  else for (const [file, text] of Object.entries({ ...files, 'skill.js': code })) await writeFile(join(path, file), text)
}

function startReplica(name: string): Promise<RegistryProcess> {
  return startProcess({
    DATABASE_URL: database.url,
    REPERTOIRE_DATA_DIR: join(folder.path, name),
    REPERTOIRE_REPLICA: name,
    REPERTOIRE_SECRET_FILE: join(folder.path, 'install-secret'),
    REPERTOIRE_ADMIN_KEY_FILE: join(folder.path, 'admin.key'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'skills'),
  })
}

/** The replica that commands are sent to; the two others have to hear of them. */
function first(): RegistryProcess {
  const [replica] = replicas
  if (replica === undefined) throw new Error('no replica runs')
  return replica
}
const others = (): readonly RegistryProcess[] => replicas.slice(1)

async function ask({ url }: RegistryProcess, path: string, { key, method = 'GET', body, etag }: Ask): Promise<Reply> {
  const response = await fetch(`${url}/v1/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'if-match': '*' }),
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, etag: response.headers.get('etag') ?? '', body: text === '' ? null : JSON.parse(text) }
}

/** What an admin does, at the first replica. */
async function manage(method: string, path: string, body?: object): Promise<Envelope> {
  const reply = await ask(first(), path, { key: adminKey, method, ...(body === undefined ? {} : { body }) })
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body.error)}`)
  return reply.body.data
}

/** An agent that holds one grant, once every replica knows what it may do. */
async function makeAgent(id: string, skill = 'vault-one'): Promise<Agent> {
  await manage('POST', 'agents', { id, name: id })
  const { key, id: keyId } = await manage('POST', `agents/${id}/keys`, {})
  const { id: grantId } = await manage('POST', `agents/${id}/grants`, { pattern: 'vault', reason })
  const agent = { id, key, keyId, grantId, skill }
  for (const replica of replicas) await expect.poll(() => lists(replica, agent), { timeout: 10_000, interval: 5 }).toContain(skill)
  return agent
}

async function lists(replica: RegistryProcess, { key }: Agent): Promise<readonly string[]> {
  const { status, body } = await ask(replica, 'skills', { key })
  return status === 200 ? body.data.items.map(({ name }: { readonly name: string }) => name) : []
}

const call = (replica: RegistryProcess, { key, skill }: Agent): Promise<Reply> =>
  ask(replica, `skills/${skill}/calls`, { key, method: 'POST', body: { arguments: {} } })
const isUnknown = async (replica: RegistryProcess, { key }: Agent): Promise<boolean> =>
  (await ask(replica, 'skills', { key })).status === 401
const isUnlisted = async (replica: RegistryProcess, agent: Agent): Promise<boolean> => !(await lists(replica, agent)).includes(agent.skill)
const isRefused =
  (code: string) =>
  async (replica: RegistryProcess, agent: Agent): Promise<boolean> => {
    const { status, body } = await call(replica, agent)
    if (status !== 200 && body.error.code !== code) throw new Error(`${agent.skill}: ${status} ${JSON.stringify(body.error)}`)
    return status !== 200
  }

/** What is taken away, by which command, and how another replica shows that it has heard of it. */
type Revocation = {
  readonly what: string
  readonly take: (agent: Agent) => Promise<unknown>
  readonly isGone: (replica: RegistryProcess, agent: Agent) => Promise<boolean>
}
const revocations: readonly Revocation[] = [
  { what: 'a key revoked', take: ({ id, keyId }) => manage('DELETE', `agents/${id}/keys/${keyId}`), isGone: isUnknown },
  { what: 'a grant removed', take: ({ id, grantId }) => manage('DELETE', `agents/${id}/grants/${grantId}`), isGone: isUnlisted },
  { what: 'an agent disabled', take: ({ id }) => manage('PATCH', `agents/${id}`, { disabled: true }), isGone: isUnknown },
  {
    what: 'a denial added',
    take: ({ id }) => manage('POST', `agents/${id}/grants`, { pattern: '*', deny: true, reason }),
    isGone: isRefused('PERMISSION_DENIED'),
  },
  {
    what: 'a version blocked',
    take: ({ skill }) => manage('POST', `skills/${skill}/versions/1.0.0/block`, { reason }),
    // It was the only one, so that nothing of the skill is left to be seen.
    isGone: isRefused('NO_MATCHING_VERSION'),
  },
]

/** Milliseconds from the moment the command is sent until every other replica refuses. */
async function untilGone({ what, take, isGone }: Revocation, agent: Agent, before = async (): Promise<void> => {}): Promise<number> {
  for (const replica of others()) if (await isGone(replica, agent)) throw new Error(`${what}: gone before it was taken`)
  await before()
  const started = performance.now()
  const everywhere = others().map(async (replica) => {
    while (!(await isGone(replica, agent))) if (performance.now() - started > 20_000) throw new Error(`${what}: never arrived`)
    return performance.now() - started
  })
  const [, ...taken] = await Promise.all([take(agent), ...everywhere])
  return Math.max(...taken)
}

const agentFor = ({ what }: Revocation, round: number): Promise<Agent> =>
  makeAgent(`${what.replaceAll(' ', '-')}-${round}`, what === 'a version blocked' ? `blocked-${round}` : 'vault-one')

function quantile(values: readonly number[], at: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))] ?? Number.NaN)
}

const listeners = (): Promise<readonly unknown[]> =>
  database.sql`select pid from pg_stat_activity where query ilike 'listen %' and datname = 'replicas'`.then((rows) => rows)

async function killListeners(): Promise<void> {
  const killed =
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %' and datname = 'replicas'`
  if (killed.length !== replicas.length) throw new Error(`${killed.length} listeners were there to be killed`)
}

describe('what is taken back at one of three replicas', () => {
  it('is gone at the others: p99 within 4 × 250 ms of sending the command, where the listeners are up', async () => {
    const all: number[] = []
    for (const revocation of revocations) {
      const taken: number[] = []
      for (let round = 0; round < rounds; round += 1) taken.push(await untilGone(revocation, await agentFor(revocation, round)))
      console.log(
        `${revocation.what} → refused elsewhere: p50 ${quantile(taken, 0.5)} ms, p99 ${quantile(taken, 0.99)} ms (${rounds} rounds)`,
      )
      all.push(...taken)
    }
    console.log(
      `all of it: p50 ${quantile(all, 0.5)} ms, p99 ${quantile(all, 0.99)} ms (${all.length} commands; promised: ${promised.listeningMs})`,
    )
    expect(quantile(all, 0.99)).toBeLessThan(4 * promised.listeningMs)
  })
  it('is gone at the others within 4 × 3 s when every listener was killed just before', async () => {
    const taken: number[] = []
    for (const revocation of revocations) {
      const agent = await agentFor(revocation, rounds)
      await expect.poll(async () => (await listeners()).length, { timeout: 10_000 }).toBe(replicas.length)
      taken.push(await untilGone(revocation, agent, killListeners))
    }
    const told = revocations.map(({ what }, at) => `${what} ${Math.round(taken[at] ?? Number.NaN)} ms`)
    console.log(`with every listener killed just before: ${told.join(', ')} (promised: ${promised.deafMs})`)
    expect(Math.max(...taken)).toBeLessThan(4 * promised.deafMs)
  })
  it('makes the ETag of an earlier list worthless: 200 with another list, never 304', async () => {
    const agent = await makeAgent('etag-holder')
    const before = await Promise.all(replicas.map((replica) => ask(replica, 'skills', { key: agent.key })))
    const again = await Promise.all(replicas.map((replica, at) => ask(replica, 'skills', { key: agent.key, etag: before[at]?.etag ?? '' })))
    expect(again.map(({ status }) => status)).toEqual([304, 304, 304])
    await manage('DELETE', `agents/${agent.id}/grants/${agent.grantId}`)
    for (const replica of others()) await expect.poll(() => isUnlisted(replica, agent), { timeout: 10_000, interval: 5 }).toBe(true)
    for (const replica of replicas)
      for (const { etag } of before) {
        const after = await ask(replica, 'skills', { key: agent.key, etag })
        const names = after.body?.data.items.map(({ name }: { readonly name: string }) => name)
        expect([after.status, names, after.etag === etag]).toEqual([200, ['open-one'], false])
      }
  })
  it('403 PERMISSION_DENIED: is not answered to a call that was under way elsewhere', async () => {
    const kept = { ...(await makeAgent('long-keeper')), skill: 'long-one' }
    const lost = { ...(await makeAgent('long-loser')), skill: 'long-one' }
    const [, second = first()] = replicas
    const under = Promise.all([call(second, kept), call(second, lost)])
    await new Promise((resolve) => setTimeout(resolve, longMs / 3))
    await manage('DELETE', `agents/${lost.id}/grants/${lost.grantId}`)
    const [answered, refused] = await under
    expect([answered.status, answered.body.data]).toEqual([200, { secret: 'the answer' }])
    expect([refused.status, refused.body.error?.code, JSON.stringify(refused.body).includes('the answer')]).toEqual([
      403,
      'PERMISSION_DENIED',
      false,
    ])
    // It was withheld, not refused at the door: the skill had run.
    expect(refused.body.error.message).toContain('while long-one was running')
  })
  it('leaves nothing but what requires nothing, when it was the last grant', async () => {
    const agent = await makeAgent('last-grant')
    await manage('DELETE', `agents/${agent.id}/grants/${agent.grantId}`)
    for (const replica of replicas) {
      await expect.poll(() => lists(replica, agent), { timeout: 10_000, interval: 5 }).toEqual(['open-one'])
      expect((await call(replica, agent)).body.error?.code).toBe('PERMISSION_DENIED')
      expect((await call(replica, { ...agent, skill: 'open-one' })).status).toBe(200)
    }
  })
})
