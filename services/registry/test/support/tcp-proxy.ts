import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A line to a database that a test can spoil in the ways networks do, and mend. */
export type TcpProxy = {
  readonly through: (url: string) => string
  readonly cut: () => void
  /** Lets nothing more through on the lines there are, without telling either end; new lines are as they should be. */
  readonly swallow: () => void
  /** The same, and for new lines as well, until it is mended. */
  readonly blackhole: () => void
  /** Lets everything through so many milliseconds late. */
  readonly delay: (ms: number) => void
  /** Ends one direction of every line: what is asked is heard, and nothing comes back. */
  readonly halfClose: () => void
  /** Resets every line; new ones are as they should be. */
  readonly reset: () => void
  readonly mend: () => Promise<void>
  readonly close: () => void
}

type Line = { readonly inside: Socket; readonly outside: Socket; isDead: boolean }

/** Opens a proxy to the host and port of an address. */
export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const lines = new Set<Line>()
  let isBlack = false
  let delayMs = 0
  let server = await listen(0)
  const ownPort = (server.address() as AddressInfo).port

  function listen(onPort: number): Promise<Server> {
    const opened = createServer((inside) => {
      const line: Line = { inside, outside: connect(Number(port), hostname), isDead: isBlack }
      lines.add(line)
      pass(line, inside, line.outside)
      pass(line, line.outside, inside)
    })
    return new Promise((resolve) => opened.listen(onPort, '127.0.0.1', () => resolve(opened)))
  }
  function pass(line: Line, from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      const send = (): void => void (!line.isDead && to.writable && to.write(chunk))
      if (delayMs === 0) send()
      else setTimeout(send, delayMs)
    })
    from.on('error', () => to.destroy())
    from.on('close', () => {
      lines.delete(line)
      // Of a dead line nobody hears, not even that it ended.
      if (!line.isDead) to.destroy()
    })
  }
  const kill = (): void => {
    for (const line of lines) line.isDead = true
  }
  const destroy = (): void => {
    for (const { inside, outside } of lines) {
      inside.destroy()
      outside.destroy()
    }
  }
  const cut = (): void => {
    server.close()
    destroy()
  }
  return {
    through: (url) => {
      const other = new URL(url)
      other.hostname = '127.0.0.1'
      other.port = String(ownPort)
      return other.href
    },
    cut,
    swallow: kill,
    blackhole: () => {
      isBlack = true
      kill()
    },
    delay: (ms) => void (delayMs = ms),
    halfClose: () => {
      for (const { inside } of lines) inside.end()
    },
    reset: () => {
      for (const { inside, outside } of lines) {
        inside.resetAndDestroy()
        outside.destroy()
      }
    },
    mend: async () => {
      isBlack = false
      delayMs = 0
      if (!server.listening) server = await listen(ownPort)
    },
    close: () => {
      cut()
    },
  }
}
