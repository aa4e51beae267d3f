import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

/**
 * The floor that the product is measured against, in a process of its own: a list of the same size from memory, with and
 * without an ETag that fits, and a proxy that passes JSON on and does nothing else.
 */
const [upstream = '', bytes = '1600'] = process.argv.slice(2)
const body = JSON.stringify({ items: 'x'.repeat(Number(bytes)) })
const etag = `"${createHash('sha256').update(body).digest('base64url')}"`
const pool = new Pool(upstream, { connections: 64 })

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    return void response.writeHead(200, { 'content-type': 'application/json', etag }).end(body)
  }
  const chunks: Buffer[] = []
  request
    .on('data', (chunk: Buffer) => chunks.push(chunk))
    .on('end', () => {
      pool
        .request({ method: 'POST', path: '/orders', headers: { 'content-type': 'application/json' }, body: Buffer.concat(chunks) })
        .then(async (answer) =>
          response.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(Buffer.from(await answer.body.arrayBuffer())),
        )
        .catch(() => response.writeHead(502).end())
    })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port} ${etag}\n`))
