import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSharedDatabase, type SharedDatabase } from './database-for-replicas.ts'
import { command } from './skill-source.ts'
import { startProcess, temporaryFolder, type Envelope, type RegistryProcess } from './start-process.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let database: SharedDatabase
let registry: RegistryProcess
let postOffice: Server
/** How often each mail arrived, and who hears that a request came in. */
const arrived = new Map<string, number>()
const heard = new Map<string, () => void>()
let isHanging = true

const start = (): Promise<RegistryProcess> =>
  startProcess({
    DATABASE_URL: database.url,
    REPERTOIRE_DATA_DIR: join(folder.path, 'replica'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
  })
const files = (name: string, front: string): Record<string, string> => ({
  'SKILL.md': `---\nname: ${name}\nversion: 1.0.0\ndescription: It is about mail.\npermission: []\n${front}\nexecutor: {kind: http, connection: post, path: /${name}, method: POST}\n---\nUse it.\n`,
  'input.schema.json': JSON.stringify({ type: 'object' }),
  'output.schema.json': JSON.stringify({ type: 'object' }),
})
async function send(to: string): Promise<Envelope> {
  const response = await fetch(`${registry.url}/v1/skills/send-mail/calls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${registry.key}`, 'content-type': 'application/json', 'idempotency-key': `mail-${to}` },
    body: JSON.stringify({ arguments: { to } }),
  })
  return response.json()
}

beforeAll(async () => {
  folder = await temporaryFolder()
  postOffice = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const given = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const answer = (data: object): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(data))
      if (request.url === '/find-mail') return answer({ happened: arrived.has(given.arguments.to) })
      if (given.to !== 'nobody' || !isHanging) arrived.set(given.to, (arrived.get(given.to) ?? 0) + 1)
      heard.get(given.to)?.()
      if (!isHanging) answer({ sent: true })
    })
  })
  await new Promise<void>((resolve) => postOffice.listen(0, '127.0.0.1', () => resolve()))
  database = await startSharedDatabase(folder.path)
  registry = await start()
  const { port } = postOffice.address() as AddressInfo
  await registry.send('POST', '/v1/connections', { name: 'post', base_url: `http://127.0.0.1:${port}` })
  for (const [name, front] of [
    ['find-mail', 'effects: read'],
    ['send-mail', 'effects: once\ntimeout_ms: 1000\nprobe: find-mail'],
  ] as const) {
    const published = await registry.send('POST', '/v1/skills', { files: files(name, front) })
    if (published.status !== 201) throw new Error(JSON.stringify(published.body))
    await command(registry, `skills/${name}/versions/1.0.0/release`)
  }
})
afterAll(async () => {
  await registry.end('SIGTERM')
  await database.close()
  postOffice.closeAllConnections()
  postOffice.close()
  await folder.remove()
})

describe('a registry that is killed in the middle of what happens once', () => {
  it('finds out by the probe what happened and what did not, and only the latter is done again', async () => {
    const isSent = ['ada', 'nobody'].map((to) => new Promise<void>((resolve) => heard.set(to, resolve)))
    const lost = ['ada', 'nobody'].map((to) => send(to).catch(() => undefined))
    await Promise.all(isSent)
    await registry.end('SIGKILL')
    await Promise.all(lost)
    isHanging = false
    registry = await start()
    const found = async (): Promise<Record<string, unknown>> => {
      const { items } = (await registry.send('GET', '/v1/calls?skill=send-mail&outcome=unknown')).body.data
      return Object.fromEntries(items.map((row: Envelope) => [row.input.to, row.settled?.happened]))
    }
    await expect.poll(found, { timeout: 40_000, interval: 500 }).toEqual({ ada: true, nobody: false })
    expect((await send('ada')).error).toMatchObject({ code: 'OUTCOME_UNKNOWN', effect: 'done' })
    expect((await send('nobody')).data).toEqual({ sent: true })
    expect([...arrived]).toEqual([
      ['ada', 1],
      ['nobody', 1],
    ])
    const looks = (await registry.send('GET', '/v1/calls?skill=find-mail')).body.data.items
    expect(looks.map((row: Envelope) => [row.outcome, row.agent_id, typeof row.parent_call_id])).toEqual([
      ['ok', 'admin', 'string'],
      ['ok', 'admin', 'string'],
    ])
  }, 90_000)
})
