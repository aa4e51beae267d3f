import type { IncomingHttpHeaders } from 'node:http'
import type { Ask } from './door.ts'

type FromNode = { readonly incoming?: { readonly headers: IncomingHttpHeaders } } | undefined

/** A header that may be given several times, joined by commas then; the name in lower case. Node has parsed them all already. */
export function headerOf(c: Ask, name: ListedHeader): string | undefined {
  const headers = (c.env as FromNode)?.incoming?.headers
  if (headers === undefined) return c.req.header(name)
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

/** Those that Node joins; of others it keeps the first alone, so that a second one would go unnoticed here. */
export type ListedHeader = 'idempotency-key' | 'if-none-match' | 'if-match' | 'prefer' | 'traceparent' | `repertoire-${string}`
