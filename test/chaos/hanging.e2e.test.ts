import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command } from '../e2e/skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from '../e2e/start-process.ts'

/** What is promised, asserted at four times as much. */
const queueMs = 50
const slack = 4
const callers = 200
const rounds = 30

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let registry: RegistryProcess
let upstream: Server
let key = ''

beforeAll(async () => {
  folder = await temporaryFolder()
  // What is asked under /hang gets no answer within the time of any call here.
  upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      if (request.url !== '/hang') response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}')
    })
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', () => resolve()))
  registry = await startProcess({
    REPERTOIRE_DATA_DIR: join(folder.path, 'data'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
    REPERTOIRE_LOG_LEVEL: 'error',
  })
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const open = JSON.stringify({ type: 'object', properties: {} })
  for (const [name, path] of [
    ['hang-long', '/hang'],
    ['stay-quick', '/quick'],
  ] as const) {
    await registry.send('POST', '/v1/connections', { name, base_url: url })
    const front = `permission: []\neffects: read\ntimeout_ms: 30000\nexecutor: {kind: http, connection: ${name}, path: ${path}, method: POST}`
    const files = {
      'SKILL.md': `---\nname: ${name}\nversion: 1.0.0\ndescription: It is asked.\n${front}\n---\nUse it.\n`,
      'input.schema.json': open,
      'output.schema.json': open,
    }
    const published = await registry.send('POST', '/v1/skills', { files })
    if (published.status !== 201) throw new Error(JSON.stringify(published.body))
    await command(registry, `skills/${name}/versions/1.0.0/release`)
  }
  await registry.send('POST', '/v1/agents', { id: 'caller', name: 'caller' })
  key = (await registry.send('POST', '/v1/agents/caller/keys', {})).body.data.key
})
afterAll(async () => {
  upstream.closeAllConnections()
  upstream.close()
  await registry.end('SIGKILL')
  await folder.remove()
})

const call = (name: string): Promise<{ readonly status: number }> =>
  registry.send('POST', `/v1/skills/${name}/calls`, { arguments: {} }, key)

describe('an upstream that hangs for half a minute', () => {
  it('with two hundred callers: no call of another skill is refused, and none waits for it', async () => {
    for (let index = 0; index < callers; index += 1) void call('hang-long').catch(() => undefined)
    await pause(1000)
    const statuses = new Set<number>()
    const began = performance.now()
    // Ten at a time, as other agents come.
    for (let round = 0; round < rounds; round += 1)
      for (const reply of await Promise.all(Array.from({ length: 10 }, () => call('stay-quick')))) statuses.add(reply.status)
    const tookMs = performance.now() - began
    const { body } = await registry.send('GET', '/v1/calls?skill=stay-quick&limit=200')
    const waits = body.data.items.map((row: { queue_ms: number }) => row.queue_ms).sort((a: number, b: number) => a - b)
    const p99 = waits[Math.floor(waits.length * 0.99)] ?? Number.NaN
    console.log(
      `beside ${callers} callers of an upstream that hangs, p99 of the others' queue time is ${p99.toFixed(1)} ms; ${rounds} times ten took ${Math.round(tookMs)} ms`,
    )
    // What waited where no row tells of it would have taken as long as the upstream hangs.
    expect([statuses, waits.length, p99 < queueMs * slack, tookMs < rounds * queueMs * slack]).toEqual([new Set([200]), 200, true, true])
  })
})
