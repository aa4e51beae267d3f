import { Repertoire, type RepertoireError } from '@repertoire/sdk'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command } from './skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from './start-process.ts'

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let registry: RegistryProcess
let upstream: Server
let client: Repertoire
let calls = 0
const long = 'ä'.repeat(100_000)

beforeAll(async () => {
  folder = await temporaryFolder()
  upstream = createServer((request, response) => {
    calls += 1
    const answer = (data: object): void => void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(data))
    if (request.url !== '/hang') setTimeout(() => answer({ number: calls, long }), 200)
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', () => resolve()))
  registry = await startProcess({ REPERTOIRE_DATA_DIR: join(folder.path, 'data'), REPERTOIRE_SKILLS_DIR: join(folder.path, 'none') })
  const { port } = upstream.address() as AddressInfo
  await registry.send('POST', '/v1/connections', { name: 'up', base_url: `http://127.0.0.1:${port}` })
  for (const name of ['work', 'hang']) {
    const files = {
      'SKILL.md': `---\nname: ${name}\nversion: 1.0.0\ndescription: It takes a while.\npermission: []\neffects: once\ntimeout_ms: 60000\nexecutor: {kind: http, connection: up, path: /${name}, method: POST}\n---\nUse it.\n`,
      'input.schema.json': JSON.stringify({ type: 'object' }),
    }
    const published = await registry.send('POST', '/v1/skills', { files })
    if (published.status !== 201) throw new Error(JSON.stringify(published.body))
    await command(registry, `skills/${name}/versions/1.0.0/release`)
  }
  client = new Repertoire({ url: registry.url, key: registry.key })
})
afterAll(async () => {
  await registry.end('SIGTERM')
  upstream.closeAllConnections()
  upstream.close()
  await folder.remove()
})
const errorOf = (work: Promise<unknown>): Promise<RepertoireError> =>
  work.then(
    () => Promise.reject(new Error('it resolved')),
    (error: RepertoireError) => error,
  )

describe('the TypeScript client and a registry', () => {
  it('start a call that nobody waits for, once for its key, and get its whole result in pieces', async () => {
    const call = await client.callInBackground<{ number: number; long: string }>('work', {}, { idempotencyKey: 'k1' })
    const again = await client.callInBackground('work', {}, { idempotencyKey: 'k1' })
    expect((await client.backgroundCall<{ number: number }>(call.id).wait()).data.number).toBe(1)
    const { data, meta } = await call.wait()
    expect([again.id, calls, data.number, data.long === long]).toEqual([call.id, 1, 1, true])
    expect(meta).toMatchObject({ call_id: call.id, skill: 'work', version: '1.0.0', outcome: 'ok' })
    expect(await call.cancel()).toBe(false)
  })
  it('get the first answer again for a key', async () => {
    const first = await client.call('work', { n: 1 }, { idempotencyKey: 'k2' })
    const again = await client.call('work', { n: 1 }, { idempotencyKey: 'k2' })
    expect([again.meta.call_id, calls]).toEqual([first.meta.call_id, 2])
  })
  it('end a call that runs, and stop waiting without ending it', async () => {
    const call = await client.callInBackground('hang')
    expect((await errorOf(call.wait({ timeoutMs: 300 }))).code).toBe('NO_END')
    expect(await call.cancel()).toBe(true)
    expect((await errorOf(call.wait())).meta?.outcome).toBe('cancelled')
  })
  it('show the token of a user, which a registry without an issuer takes for none', async () => {
    const refused = await errorOf(client.call('work', {}, { onBehalfOf: 'no.good.token' }))
    const other = new Repertoire({ url: registry.url, key: registry.key, onBehalfOf: 'no.good.token' })
    expect([refused.code, (await errorOf(other.list())).code, (await errorOf(other.callInBackground('work'))).code]).toEqual(
      Array(3).fill('UNAUTHENTICATED'),
    )
  })
})
