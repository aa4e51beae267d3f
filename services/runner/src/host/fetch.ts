import { lookup as resolveHost } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { Agent, request } from 'undici'
import { z } from 'zod'
import { isPublicAddress } from './address.ts'
import { HostError, type HostErrorTraits } from './host-error.ts'
import type { Opens } from './opens.ts'

const maxBodyBytes = 8 * 1024 * 1024
const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

const Fetch = z.object({
  url: z.string().max(8192),
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().optional(),
  max_bytes: z.number().int().min(1).max(maxBodyBytes).default(maxBodyBytes),
  timeout_ms: z.number().int().min(1).max(120_000).default(20_000),
})

/** What a fetch may reach, and for how long. */
export type FetchHost = {
  readonly opens: Opens
  readonly allow: ReadonlySet<string>
  /** Aborted when the run is over that asked: what nobody waits for is not sent any more. */
  readonly over?: AbortSignal
}

/** What came back; a redirect is handed to the skill, never followed here. */
export type Fetched = { status: number; headers: Record<string, string>; base64: string; bytes: number; cut: boolean }

/** Fetches an address for a skill: public hosts on 80 and 443, and what the operator listed. */
export async function fetchFor({ opens, allow, over }: FetchHost, args: unknown): Promise<Fetched> {
  const wanted = Fetch.parse(args)
  const url = URL.canParse(wanted.url) ? new URL(wanted.url) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new HostError('URL_NOT_ALLOWED', 'Only http and https addresses can be fetched.')
  if (url.username !== '' || url.password !== '')
    throw new HostError('URL_NOT_ALLOWED', 'An address with a user or password in it is not fetched.')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (defaultPorts[url.protocol] ?? '') : url.port
  const isListed = allow.has(`${host.toLowerCase()}:${port}`)
  if (!opens.fetches(host)) throw new HostError('URL_NOT_ALLOWED', `No tag of this skill opens ${host}.`)
  if (!isListed && port !== defaultPorts[url.protocol])
    throw new HostError('URL_NOT_ALLOWED', `Port ${port} is not one that skills may reach.`)
  // A literal address never passes the resolver, so it is judged here.
  if (!isListed && isIP(host) !== 0 && !isPublicAddress(host)) throw new HostError('URL_NOT_ALLOWED', `${host} is not a public address.`)
  const agent = new Agent({ connect: { timeout: 5000, ...(isListed ? {} : { lookup: publicOnly }) } })
  const late = AbortSignal.timeout(wanted.timeout_ms)
  const signal = over === undefined ? late : AbortSignal.any([late, over])
  try {
    const response = await request(url, {
      dispatcher: agent,
      signal,
      method: wanted.method,
      body: wanted.body ?? null,
      headers: { 'user-agent': 'repertoire', 'accept-encoding': 'gzip, br', ...wanted.headers },
    })
    const headers = Object.fromEntries(
      Object.entries(response.headers).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
      ),
    )
    const { bytes, cut } = await readUpTo(unpacked(response.body, headers['content-encoding']), wanted.max_bytes)
    return { status: response.statusCode, headers, base64: bytes.toString('base64'), bytes: bytes.length, cut }
  } catch (error) {
    if (error instanceof HostError) throw error
    const cause = error instanceof Error && error.cause instanceof HostError ? error.cause : undefined
    if (cause !== undefined) throw cause
    const traits: HostErrorTraits = { retryable: true, effect: isHarmless(wanted.method) ? 'none' : 'possible' }
    if (signal.aborted) throw new HostError('FETCH_TIMEOUT', `${host} did not answer within ${wanted.timeout_ms} ms.`, traits)
    throw new HostError('FETCH_FAILED', `${host} could not be reached, or its answer could not be read.`, traits)
  } finally {
    await agent.destroy()
  }
}

/** Whether a request of this method only reads. */
export function isHarmless(method: unknown): boolean {
  return method === undefined || method === 'GET' || method === 'HEAD'
}

/** Resolves a name, refuses it when any of its addresses is not public, and connects to what was checked. */
const publicOnly: LookupFunction = (hostname, options, callback) => {
  resolveHost(hostname, { all: true, verbatim: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 0)
    const closed = addresses.find(({ address }) => !isPublicAddress(address))
    const first = addresses[0]
    if (closed !== undefined || first === undefined)
      return callback(new HostError('URL_NOT_ALLOWED', `${hostname} resolves to an address that is not public.`), '', 0)
    if (options.all === true) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

async function readUpTo(body: AsyncIterable<Buffer>, maxBytes: number): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxBytes), cut: true }
  }
  return { bytes: Buffer.concat(chunks), cut: false }
}

// One layer, as a stream: a small body may unpack to a very large one, and reading stops at what was asked for.
function unpacked(body: Readable, encoding: string | undefined): AsyncIterable<Buffer> {
  const unpack =
    encoding === 'gzip'
      ? createGunzip()
      : encoding === 'br'
        ? createBrotliDecompress()
        : encoding === 'deflate'
          ? createInflate()
          : undefined
  return unpack === undefined ? body : pipeline(body, unpack, () => undefined)
}
