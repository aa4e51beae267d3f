import { createServer, type Server } from 'node:http'
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
  let [inside, most] = [0, 0]
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { n } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { readonly n: string }
      effects.set(n, (effects.get(n) ?? 0) + 1)
      const body = JSON.stringify({ n, number: effects.get(n) })
      const isSingle = request.url === '/single'
      if (isSingle) most = Math.max(most, (inside += 1))
      void pause(Math.random() * mostMs).then(() => {
        if (isSingle) inside -= 1
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
