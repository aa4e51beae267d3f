import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What both the proxy and the product call: it answers every POST with one order. */
const answer = JSON.stringify({ order_id: '71781', amount: 89.9, items: [{ sku: 'KT-150', quantity: 1 }] })
const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(answer))
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`))
