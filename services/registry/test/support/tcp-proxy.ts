import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A line to a database that a test can cut and mend. */
export type TcpProxy = {
  readonly through: (url: string) => string
  readonly cut: () => void
  /** Lets nothing more through on the lines there are, without telling either end; new lines are as they should be. */
  readonly swallow: () => void
  readonly mend: () => Promise<void>
  readonly close: () => void
}

/** Opens a proxy to the host and port of an address. */
export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let server = await listen(0)
  const ownPort = (server.address() as AddressInfo).port

  function listen(onPort: number): Promise<Server> {
    const opened = createServer((inside) => {
      const outside = connect(Number(port), hostname)
      for (const [one, other] of [
        [inside, outside],
        [outside, inside],
      ] as const) {
        sockets.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy()).on('close', () => (sockets.delete(one), other.destroy()))
      }
    })
    return new Promise((resolve) => opened.listen(onPort, '127.0.0.1', () => resolve(opened)))
  }
  const cut = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    through: (url) => {
      const other = new URL(url)
      other.hostname = '127.0.0.1'
      other.port = String(ownPort)
      return other.href
    },
    cut,
    swallow: () => {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    mend: async () => void (server = await listen(ownPort)),
    close: cut,
  }
}
