import { Socket } from 'node:net'

/** Where the driver wants to go: hosts to be tried by turns, or the path of a socket. */
export type SocketTarget = {
  readonly host: readonly string[]
  readonly port: readonly number[]
  readonly path?: string | false | undefined
}

let turn = 0

/**
 * A socket that sends at once what it is given. The driver ends a COPY with five bytes of their own, which otherwise wait forty
 * milliseconds for the other side's acknowledgement: twice in every batch of the log. It is given back while it connects, so
 * that a failure reaches the driver as any other does.
 */
export function openSocket({ host, port, path }: SocketTarget): Socket {
  const socket = new Socket()
  socket.setNoDelay(true)
  if (typeof path === 'string') return socket.connect(path)
  const index = turn % host.length
  turn += 1
  // By this name a certificate is checked.
  Object.assign(socket, { host: host[index] })
  return socket.connect(port[index] ?? 5432, host[index] ?? 'localhost')
}
