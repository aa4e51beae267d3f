import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import postgres from 'postgres'
import { Pool } from 'undici'

/**
 * The comparison: the same call as most would build it first, with the database asked at every step. Who asks, which version,
 * which grants, then the call, then its row, each a query of its own; everything else is as lean as the floor.
 */
const [upstream = '', databaseUrl = '', key = ''] = process.argv.slice(2)
const sql = postgres(databaseUrl, { max: 10, onnotice: () => undefined })
const pool = new Pool(upstream, { connections: 64 })

await sql`create table if not exists keys (hash text primary key, agent text not null, expires_at timestamptz)`
await sql`create table if not exists versions (skill text not null, version text not null, status text not null, tags text[] not null, primary key (skill, version))`
await sql`create table if not exists grants (agent text not null, pattern text not null)`
await sql`create table if not exists rows (id uuid primary key, at timestamptz not null, agent text not null, skill text not null, version text not null, outcome text not null, input bytea, output bytea, ms float8)`
await sql`insert into keys values (${digest(key)}, 'bench', now() + interval '1 day') on conflict do nothing`
await sql`insert into versions values ('ask-shop', '1.0.0', 'released', '{}') on conflict do nothing`
await sql`insert into grants values ('bench', 'orders:read')`

async function call(request: IncomingMessage, body: Buffer): Promise<Buffer> {
  const began = performance.now()
  const [who] =
    await sql`select agent from keys where hash = ${digest((request.headers.authorization ?? '').slice(7))} and expires_at > now()`
  if (who === undefined) throw new Error('unknown key')
  const [version] =
    await sql`select version, tags from versions where skill = 'ask-shop' and status = 'released' order by version desc limit 1`
  const grants = await sql`select pattern from grants where agent = ${who['agent']}`
  if (version === undefined || grants.length === 0) throw new Error('not allowed')
  const input = JSON.parse(body.toString('utf8')) as { readonly arguments: unknown }
  const answer = await pool.request({
    method: 'POST',
    path: '/orders',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(input.arguments),
  })
  const output = Buffer.from(await answer.body.arrayBuffer())
  await sql`insert into rows values (${randomUUID()}, now(), ${who['agent']}, 'ask-shop', ${version['version']}, 'ok', ${body}, ${output}, ${performance.now() - began})`
  return output
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      call(request, Buffer.concat(chunks)).then(
        (output) => response.writeHead(200, { 'content-type': 'application/json' }).end(output),
        () => response.writeHead(500).end(),
      )
    })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
