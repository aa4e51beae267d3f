import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { startEmbeddedPostgres } from '../../services/registry/src/postgres/embedded.ts'
import { houseDir } from '../support/read-house.ts'
import type { CoreFigure } from './core.ts'
import { median, runRound, startSubject, type Load, type Round } from './measure.ts'

// A service runs for days; the first seconds, in which most of the code is still interpreted, say nothing of it.
const warmUpRounds = 3

/** Starts floor and product side by side, loads them by turns, and prints what a request costs as a ratio to the floor. */
async function bench(rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'repertoire-bench-'))
  await chmod(folder, 0o755)
  const here = (file: string): string[] => ['--import', 'tsx', fileURLToPath(new URL(file, import.meta.url))]
  const upstream = await startSubject(here('./upstream.ts'))
  await writeSkills(join(folder, 'skills'))
  const database = await startEmbeddedPostgres({ dataDir: join(folder, 'database') })
  const databaseOf = await makeDatabases(database.url, ['product', 'comparison'])
  const product = await startSubject([join(houseDir, 'services/registry/dist/main.js')], {
    DATABASE_URL: databaseOf('product'),
    REPERTOIRE_PORT: '0',
    REPERTOIRE_AGENT_RATE: '1000000',
    REPERTOIRE_LOG_LEVEL: 'error',
    REPERTOIRE_DATA_DIR: join(folder, 'data'),
    REPERTOIRE_SKILLS_DIR: join(folder, 'skills'),
  })
  const url = product.said[0] ?? ''
  try {
    const admin = (await readFile(join(folder, 'data', 'admin.key'), 'utf8')).trim()
    const { key, etag, bytes } = await prepare(url, admin, `http://127.0.0.1:${upstream.said[0]}`)
    const floor = await startSubject([...here('./floor.ts'), `http://127.0.0.1:${upstream.said[0]}`, String(bytes)])
    const comparison = await startSubject([
      ...here('./sql-per-call.ts'),
      `http://127.0.0.1:${upstream.said[0]}`,
      databaseOf('comparison'),
      key,
    ])
    const floorUrl = `http://127.0.0.1:${floor.said[0]}`
    const authorization = `Bearer ${key}`
    const call = { method: 'POST', body: '{"arguments":{"order_id":"71781"}}', expect: 200 } as const
    const json = { 'content-type': 'application/json' }
    const pairs: Record<string, readonly [Load, Load]> = {
      'list, 304': [
        { subject: floor, url: floorUrl, headers: { 'if-none-match': floor.said[1] ?? '' }, expect: 304 },
        { subject: product, url: `${url}/v1/skills`, headers: { authorization, 'if-none-match': etag }, expect: 304 },
      ],
      [`list, ${bytes} bytes`]: [
        { subject: floor, url: floorUrl, expect: 200 },
        { subject: product, url: `${url}/v1/skills`, headers: { authorization }, expect: 200 },
      ],
      'a whole call, durable': [
        { subject: floor, url: floorUrl, headers: json, ...call },
        { subject: product, url: `${url}/v1/skills/ask-shop/calls`, headers: { ...json, authorization }, ...call },
      ],
      'the same, one caller': [
        { subject: floor, url: floorUrl, headers: json, connections: 1, ...call },
        { subject: product, url: `${url}/v1/skills/ask-shop/calls`, headers: { ...json, authorization }, connections: 1, ...call },
      ],
      'SQL at every step': [
        { subject: floor, url: floorUrl, headers: json, ...call },
        { subject: comparison, url: `http://127.0.0.1:${comparison.said[0]}`, headers: { ...json, authorization }, ...call },
      ],
    }
    const found = new Map<string, { floor: Round[]; product: Round[] }>(
      Object.keys(pairs).map((name) => [name, { floor: [], product: [] }]),
    )
    for (let round = 1 - warmUpRounds; round <= rounds; round += 1) {
      process.stderr.write(round < 1 ? 'warming up\n' : `round ${round} of ${rounds}\n`)
      for (const [name, [floorLoad, productLoad]] of Object.entries(pairs)) {
        const pair = [await runRound(floorLoad), await runRound(productLoad)] as const
        if (round < 1) continue
        found.get(name)?.floor.push(pair[0])
        found.get(name)?.product.push(pair[1])
      }
    }
    floor.child.kill()
    comparison.child.kill()
    print(found)
  } finally {
    upstream.child.kill()
    const ended = new Promise((resolve) => product.child.once('exit', resolve))
    product.child.kill('SIGTERM')
    await ended
    await database.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function makeDatabases(serverUrl: string, names: readonly string[]): Promise<(name: string) => string> {
  const admin = postgres(serverUrl, { max: 1, onnotice: () => undefined })
  for (const name of names) await admin.unsafe(`create database ${name}`)
  await admin.end()
  return (name) => serverUrl.replace(/\/postgres$/, `/${name}`)
}

async function writeSkills(folder: string): Promise<void> {
  const path = join(folder, 'ask-shop')
  await mkdir(path, { recursive: true })
  await writeFile(
    join(path, 'SKILL.md'),
    '---\nname: ask-shop\nversion: 1.0.0\ndescription: Asks the shop for an order.\npermission: []\neffects: read\nexecutor: {kind: http, connection: shop, path: /orders}\n---\nAsk.\n',
  )
  await writeFile(
    join(path, 'input.schema.json'),
    JSON.stringify({ type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'], additionalProperties: false }),
  )
  await writeFile(
    join(path, 'output.schema.json'),
    JSON.stringify({
      type: 'object',
      properties: { order_id: { type: 'string' }, amount: { type: 'number' } },
      required: ['order_id', 'amount'],
    }),
  )
}

async function prepare(
  url: string,
  admin: string,
  shop: string,
): Promise<{ readonly key: string; readonly etag: string; readonly bytes: number }> {
  const send = async (path: string, body: object): Promise<{ data: { key: string } }> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as { data: { key: string } }
  }
  await send('/v1/connections', { name: 'shop', base_url: shop })
  await send('/v1/agents', { id: 'bench', name: 'Bench' })
  const { key } = (await send('/v1/agents/bench/keys', {})).data
  const list = await fetch(`${url}/v1/skills`, { headers: { authorization: `Bearer ${key}` } })
  return { key, etag: list.headers.get('etag') ?? '', bytes: (await list.text()).length }
}

function print(found: ReadonlyMap<string, { readonly floor: readonly Round[]; readonly product: readonly Round[] }>): void {
  console.log(
    '| path | floor CPU µs | product CPU µs | ratio | floor /s | product /s | floor ms | product ms |\n|---|---|---|---|---|---|---|---|',
  )
  for (const [name, { floor, product }] of found) {
    const of = (rounds: readonly Round[], key: keyof Round): number => median(rounds.map((round) => round[key]))
    const ratio = median(product.map((round, index) => round.cpuMicros / (floor[index]?.cpuMicros ?? Number.NaN)))
    console.log(
      `| ${name} | ${of(floor, 'cpuMicros').toFixed(0)} | ${of(product, 'cpuMicros').toFixed(0)} | ${ratio.toFixed(2)} | ${of(floor, 'perSecond').toFixed(0)} | ${of(product, 'perSecond').toFixed(0)} | ${of(floor, 'meanMs').toFixed(2)} | ${of(product, 'meanMs').toFixed(2)} |`,
    )
  }
}

async function benchCore(): Promise<void> {
  const path = fileURLToPath(new URL('./core.ts', import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', '--import', 'tsx', path], { stdio: ['ignore', 'pipe', 'inherit'] })
  console.log('\n| rules in process | figure | target |\n|---|---|---|')
  for await (const line of createInterface({ input: child.stdout })) {
    const { what, figure, target } = JSON.parse(line) as CoreFigure
    console.log(`| ${what} | ${figure} | ${target} |`)
  }
}

await bench(Number(process.env['BENCH_ROUNDS'] ?? 5))
await benchCore()
