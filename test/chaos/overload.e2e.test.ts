import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { command } from '../e2e/skill-source.ts'
import { startProcess, temporaryFolder, type RegistryProcess } from '../e2e/start-process.ts'
import { sendLoad } from './send-load.ts'

/** Ten times what the registry can carry out, for so long. It needs a machine of its own, so `npm run test:chaos` alone runs it. */
const asked = process.env['OVERLOAD_SECONDS']
const seconds = Number(asked ?? 8)
const executorMs = 50
const concurrency = 5
const offeredPerSecond = 1000
/** What is promised is asserted at four times as much: the machine may be anybody's. */
const slack = 4

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let registry: RegistryProcess
let upstream: Server
let key = ''

beforeAll(async () => {
  folder = await temporaryFolder()
  upstream = createServer((request, response) => {
    request.resume()
    request.on(
      'end',
      () => void pause(executorMs).then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}')),
    )
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', () => resolve()))
  registry = await startProcess({
    REPERTOIRE_DATA_DIR: join(folder.path, 'data'),
    REPERTOIRE_SKILLS_DIR: join(folder.path, 'none'),
    REPERTOIRE_CONCURRENCY: String(concurrency),
    REPERTOIRE_LOG_LEVEL: 'error',
  })
  await registry.send('POST', '/v1/connections', { name: 'slow', base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` })
  const front = 'permission: []\neffects: read\nexecutor: {kind: http, connection: slow, path: /orders, method: POST}'
  const open = JSON.stringify({ type: 'object', properties: {} })
  const files = {
    'SKILL.md': `---\nname: take-fifty\nversion: 1.0.0\ndescription: It takes fifty milliseconds.\n${front}\n---\nUse it.\n`,
    'input.schema.json': open,
    'output.schema.json': open,
  }
  const published = await registry.send('POST', '/v1/skills', { files })
  if (published.status !== 201) throw new Error(JSON.stringify(published.body))
  await command(registry, 'skills/take-fifty/versions/1.0.0/release')
  await registry.send('POST', '/v1/agents', { id: 'caller', name: 'caller' })
  key = (await registry.send('POST', '/v1/agents/caller/keys', {})).body.data.key
})
afterAll(async () => {
  await registry.end('SIGTERM')
  upstream.closeAllConnections()
  upstream.close()
  await folder.remove()
})

type Load = { readonly good: number; readonly refused: number; readonly refusalsMs: readonly number[]; readonly others: number }

/** Sends so many calls a second for so long, and counts what came back. */
async function load(perSecond: number, forSeconds: number): Promise<Load> {
  const path = '/v1/skills/take-fifty/calls'
  const sent = { url: registry.url, path, key, body: '{"arguments":{}}', perSecond, seconds: forSeconds }
  const { statuses, refusalsMs, unanswered } = await sendLoad(sent)
  const [good, refused] = [statuses.get(200) ?? 0, statuses.get(503) ?? 0]
  const all = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  return { good, refused, refusalsMs, others: all - good - refused + unanswered }
}
const residentMegabytes = async (): Promise<number> =>
  Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${registry.child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
const quantile = (values: readonly number[], at: number): number => [...values].sort((a, b) => a - b)[Math.floor(values.length * at)] ?? 0

describe.skipIf(asked === undefined)('ten times as many calls as can be carried out (in npm run test:chaos)', () => {
  it(
    'leave the goodput where it was, are refused at once, take no memory, and are forgotten when they stop',
    async () => {
      await load(50, 1)
      // A little more than there is room for, so that no place is ever empty.
      const peak = await load(120, 4)
      const peakPerSecond = peak.good / 4
      await load(offeredPerSecond, 2)
      const before = await residentMegabytes()
      const over = await load(offeredPerSecond, seconds)
      const grown = (await residentMegabytes()) - before
      const goodPerSecond = over.good / seconds
      const stopped = performance.now()
      const send = async (): Promise<number> => {
        const asked = performance.now()
        const reply = await registry.send('POST', '/v1/skills/take-fifty/calls', { arguments: {} }, key)
        return reply.status === 200 ? performance.now() - asked : Number.POSITIVE_INFINITY
      }
      while ((await send()) > executorMs * slack) if (performance.now() - stopped > 20_000) break
      const recoveredMs = performance.now() - stopped
      const p99 = quantile(over.refusalsMs, 0.99)
      console.log(
        `peak ${peakPerSecond.toFixed(0)}/s; of ${offeredPerSecond}/s offered for ${seconds} s: goodput ${goodPerSecond.toFixed(0)}/s (${((100 * goodPerSecond) / peakPerSecond).toFixed(0)} %), ${over.refused} refused in p50 ${quantile(over.refusalsMs, 0.5).toFixed(1)} and p99 ${p99.toFixed(1)} ms; memory ${grown.toFixed(0)} MB more; recovered after ${recoveredMs.toFixed(0)} ms`,
      )
      expect([over.others, over.refused > seconds * 100]).toEqual([0, true])
      expect(goodPerSecond).toBeGreaterThanOrEqual(peakPerSecond * 0.8)
      expect([p99 < 50 * slack, grown < 150, recoveredMs < 5000 * slack]).toEqual([true, true, true])
    },
    60_000 + seconds * 2000,
  )
})
