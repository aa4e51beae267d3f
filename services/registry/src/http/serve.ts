import { getRequestListener } from '@hono/node-server'
import { errorCatalogue, limits } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { Hono } from 'hono'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { DoorEnv } from './door.ts'
import { errorOf } from '../calls/write-answer.ts'

/** A listening server. */
export type Served = { readonly port: number; readonly stopAccepting: () => void; readonly close: (deadlineMs: number) => Promise<void> }

/** Listens for requests, with time-outs that fire and an envelope also for what Node's parser refuses. */
export async function serve(app: Hono<DoorEnv>, { host, port }: { readonly host: string; readonly port: number }): Promise<Served> {
  const server = createServer(
    {
      connectionsCheckingInterval: 1000,
      headersTimeout: 5000,
      requestTimeout: 15_000,
      keepAliveTimeout: 30_000,
      maxHeaderSize: limits.headerBytes,
      // Health checks of HTTP/1.0 send no Host, and we decide nothing by it.
      requireHostHeader: false,
    },
    getRequestListener(app.fetch as never, {
      hostname: host,
      errorHandler: () =>
        new Response(envelopeOf(notHttp), { status: 400, headers: { 'content-type': 'application/json; charset=utf-8' } }),
    }),
  )
  server.on('checkExpectation', (_, response) => {
    const body = envelopeOf(notHttp)
    response.writeHead(400, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }).end(body)
  })
  server.on('clientError', answerParserError)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, () => resolve()))
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    stopAccepting: () => server.close(),
    close: async (deadlineMs) => {
      server.close()
      server.closeIdleConnections()
      const ended = new Promise<void>((resolve) => server.once('close', resolve))
      const timer = setTimeout(() => server.closeAllConnections(), deadlineMs)
      const idle = setInterval(() => server.closeIdleConnections(), 50)
      await ended
      clearTimeout(timer)
      clearInterval(idle)
    },
  }
}

const notHttp = new Refusal('INVALID_REQUEST', 'The request is not HTTP as it should be.')

const parserErrors: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: new Refusal('HEADERS_TOO_LARGE', `The headers are larger than ${limits.headerBytes} bytes.`),
  ERR_HTTP_REQUEST_TIMEOUT: new Refusal('REQUEST_TIMEOUT', 'The request did not arrive in time.'),
}

function answerParserError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const refusal = parserErrors[error.code ?? ''] ?? notHttp
  const body = envelopeOf(refusal)
  const { status } = errorCatalogue[refusal.code]
  socket.end(
    `HTTP/1.1 ${status} ${refusal.code}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

// What never reached the door has neither a request id nor a catalogue to speak of.
function envelopeOf(refusal: Refusal): string {
  return JSON.stringify({ ok: false, data: null, error: errorOf(refusal), meta: { request_id: '', revision: 0, warnings: [] } })
}
