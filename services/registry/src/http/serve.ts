import { createAdaptorServer } from '@hono/node-server'
import { errorCatalogue, limits, type ErrorCode } from '@repertoire/contract'
import { Refusal } from '@repertoire/core'
import type { Hono } from 'hono'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { DoorEnv } from './door.ts'
import { errorOf } from './respond.ts'

/** A listening server. */
export type Served = { readonly port: number; readonly stopAccepting: () => void; readonly close: (deadlineMs: number) => Promise<void> }

/** Listens for requests, with time-outs that fire and an envelope also for what Node's parser refuses. */
export async function serve(app: Hono<DoorEnv>, { host, port }: { readonly host: string; readonly port: number }): Promise<Served> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    createServer,
    serverOptions: {
      connectionsCheckingInterval: 1000,
      headersTimeout: 5000,
      requestTimeout: 15_000,
      keepAliveTimeout: 30_000,
      maxHeaderSize: limits.headerBytes,
    },
  }) as Server
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

const parserErrors: Readonly<Record<string, { readonly code: ErrorCode; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: { code: 'HEADERS_TOO_LARGE', message: `The headers are larger than ${limits.headerBytes} bytes.` },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive in time.' },
}

function answerParserError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const { code, message } = parserErrors[error.code ?? ''] ?? {
    code: 'INVALID_REQUEST' as const,
    message: 'The request is not HTTP as it should be.',
  }
  const body = JSON.stringify({
    ok: false,
    data: null,
    error: errorOf(new Refusal(code, message)),
    meta: { request_id: '', revision: 0, warnings: [] },
  })
  const { status } = errorCatalogue[code]
  socket.end(
    `HTTP/1.1 ${status} ${code}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
