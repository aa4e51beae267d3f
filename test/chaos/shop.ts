import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** What skills of a test act upon: it counts what reached it, by a number each request brings. */
export type Shop = {
  readonly url: string
  readonly effects: ReadonlyMap<string, number>
  /** How many requests to `/single` it had at once, at most. */
  readonly mostAtOnce: () => number
  readonly close: () => void
}

/** Opens one that answers after a short, random while. */
export async function openShop(mostMs: number): Promise<Shop> {
  const effects = new Map<string, number>()
  const inside = new Set<ServerResponse>()
  let most = 0
  // Whoever has hung up is not served any more. That and the next request may arrive in one turn, in any order.
  const enter = (response: ServerResponse): void => {
    inside.add(response)
    response.once('close', () => inside.delete(response))
    setImmediate(() => (most = Math.max(most, inside.size)))
  }
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { n } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly n: string }
      effects.set(n, (effects.get(n) ?? 0) + 1)
      const body = JSON.stringify({ n, number: effects.get(n) })
      if (request.url === '/single') enter(response)
      void pause(Math.random() * mostMs).then(() => {
        inside.delete(response)
        response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      })
    })
    request.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects,
    mostAtOnce: () => most,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
