import type { Envelope, Meta } from '@repertoire/contract/sdk'
import { openStream, type StreamedAnswer } from './open-stream.ts'
import { RepertoireError } from './repertoire-error.ts'

/** One request. */
export type RequestOptions = {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

/** Data and what the answer says of itself; `etag` is what a command on it sends as If-Match. */
export type Answer<T> = { readonly data: T; readonly meta: Meta; readonly status: number; readonly etag: string | null }

/** Sends requests and takes envelopes apart. */
export type Transport = {
  readonly send: <T>(method: string, path: string, options?: RequestOptions) => Promise<Answer<T>>
  /** Reads what has no end, or is too long to hold, as it arrives; `timeoutMs` is for its beginning alone. Nothing is retried. */
  readonly open: (path: string, options?: RequestOptions) => Promise<StreamedAnswer>
}

/** Where requests go, and what each of them carries. */
export type TransportOptions = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly fetch: typeof fetch
}

const maxRemembered = 200
const readAttempts = 3

/** A transport over `fetch`: reads are retried when no answer came or the registry was busy, and remembered by their ETag; writes and calls never are. */
export function createTransport({ url, headers, timeoutMs, fetch: send }: TransportOptions): Transport {
  const remembered = new Map<string, { readonly etag: string; readonly answer: Answer<unknown> }>()
  const base = url.replace(/\/+$/, '')

  const attempt = async <T>(method: string, path: string, options: RequestOptions): Promise<Answer<T>> => {
    const target = `${base}${path}${queryOf(options.query)}`
    const known = method === 'GET' ? remembered.get(target) : undefined
    const timeout = deadlineAfter(options.timeoutMs ?? timeoutMs)
    const body = writeBody(options.body)
    let response: Response
    let text: string
    try {
      response = await send(target, {
        method,
        headers: {
          accept: 'application/json',
          ...headers,
          ...options.headers,
          ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(known === undefined ? {} : { 'if-none-match': known.etag }),
        },
        ...(body === undefined ? {} : { body }),
        signal: options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]),
      })
      text = await response.text()
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      if (isRefusedHere(error))
        throw unsendable(
          'The request cannot be sent: the address, the key, or a session or tenant holds characters that a header cannot carry.',
          'use plain ASCII there',
        )
      throw unreachable(base, method, timeout.aborted)
    }
    if (response.status === 304 && known !== undefined) return known.answer as Answer<T>
    const etag = response.headers.get('etag')
    const answer = unwrap<T>(text, { status: response.status, etag })
    if (method === 'GET' && etag !== null) remember(remembered, target, { etag, answer })
    return answer
  }
  const open = async (path: string, options: RequestOptions = {}): Promise<StreamedAnswer> => {
    const begun = new AbortController()
    const late = setTimeout(() => begun.abort(), options.timeoutMs ?? timeoutMs)
    try {
      const response = await send(`${base}${path}${queryOf(options.query)}`, {
        headers: { ...headers, ...options.headers },
        signal: options.signal === undefined ? begun.signal : AbortSignal.any([options.signal, begun.signal]),
      })
      clearTimeout(late)
      return await openStream(response)
    } catch (error) {
      if (error instanceof RepertoireError || options.signal?.aborted === true) throw error
      if (isRefusedHere(error)) throw unsendable('The request cannot be sent as it is.', 'check the address and the key')
      throw unreachable(base, 'GET', begun.signal.aborted)
    } finally {
      clearTimeout(late)
    }
  }
  return {
    open,
    send: async (method, path, options = {}) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await attempt(method, path, options)
        } catch (error) {
          const mayRetry =
            method === 'GET' && tries < readAttempts && error instanceof RepertoireError && (error.status === 0 || error.status === 503)
          if (!mayRetry) throw error
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 100 * 2 ** tries))
        }
      }
    },
  }
}

// A header that no request can carry is found out before anything is sent.
function isRefusedHere(error: unknown): boolean {
  return error instanceof TypeError && error.cause === undefined
}

/** The error for a request that was never sent, because it cannot be. */
export function unsendable(message: string, hint: string): RepertoireError {
  return new RepertoireError({ code: 'UNSENDABLE', origin: 'network', effect: 'none', next: 'fix_input', message, hint, status: 0 })
}

function writeBody(body: unknown): string | undefined {
  if (body === undefined) return undefined
  try {
    return JSON.stringify(body)
  } catch (error) {
    throw unsendable(
      `The arguments cannot be written as JSON: ${error instanceof Error ? error.message : 'unknown'}.`,
      'send big integers as strings, and no cycles',
    )
  }
}

function deadlineAfter(timeoutMs: number): AbortSignal {
  if (!Number.isFinite(timeoutMs) || timeoutMs < 0) throw unsendable(`${timeoutMs} is not a time-out.`, 'give milliseconds')
  return AbortSignal.timeout(Math.ceil(timeoutMs))
}

function unwrap<T>(text: string, { status, etag }: Pick<Answer<T>, 'status' | 'etag'>): Answer<T> {
  let envelope: Envelope<T>
  try {
    envelope = JSON.parse(text) as Envelope<T>
  } catch {
    throw notARegistry(status)
  }
  if (envelope.ok) return { data: envelope.data, meta: envelope.meta, status, etag }
  if (envelope.error === undefined || envelope.error === null) throw notARegistry(status)
  throw new RepertoireError({ ...envelope.error, status, meta: envelope.meta })
}

function notARegistry(status: number): RepertoireError {
  const message = 'What answered does not speak as a registry does.'
  return new RepertoireError({
    code: 'NOT_A_REGISTRY',
    origin: 'network',
    effect: 'possible',
    next: 'ask_human',
    message,
    hint: 'check the address',
    status,
  })
}

function unreachable(base: string, method: string, isLate: boolean): RepertoireError {
  const effect = method === 'GET' ? 'none' : 'possible'
  return isLate
    ? new RepertoireError({
        code: 'NO_ANSWER',
        origin: 'network',
        effect,
        next: 'retry',
        message: `${base} did not answer in time.`,
        status: 0,
      })
    : new RepertoireError({
        code: 'UNREACHABLE',
        origin: 'network',
        effect: 'none',
        next: 'retry',
        message: `${base} could not be reached.`,
        hint: 'is the registry running, and is REPERTOIRE_URL right?',
        status: 0,
      })
}

function remember(
  remembered: Map<string, { readonly etag: string; readonly answer: Answer<unknown> }>,
  key: string,
  entry: { readonly etag: string; readonly answer: Answer<unknown> },
): void {
  if (remembered.size >= maxRemembered) {
    const oldest = remembered.keys().next().value
    if (oldest !== undefined) remembered.delete(oldest)
  }
  remembered.set(key, entry)
}

function queryOf(query: RequestOptions['query']): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) params.set(name, String(value))
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}
