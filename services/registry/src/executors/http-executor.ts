import type { ConnectionRecord } from '@repertoire/core'
import { readFile } from 'node:fs/promises'
import { Pool, type Dispatcher } from 'undici'
import type { Execution, Executor, ExecutorResult } from '../ports.ts'
import { isConnectFailure } from './connect-failure.ts'
import { endInTime } from './end-in-time.ts'
import { readAnswer } from './read-answer.ts'

/** Carries calls out over HTTP, at an operator's connection; agents' own headers never reach it. */
export function createHttpExecutor(environment: NodeJS.ProcessEnv): Executor & { readonly close: () => Promise<void> } {
  const pools = new Map<string, { readonly origin: string; readonly pool: Pool }>()
  // One for each connection, not for each host: two of them may lead to the same one, and one that hangs must not keep the other
  // waiting. How many requests are under way is bounded by the bulkhead; a bound in here would be a queue without a deadline.
  const poolFor = (name: string, origin: string): Pool => {
    const known = pools.get(name)
    if (known?.origin === origin) return known.pool
    void known?.pool.close().catch(() => undefined)
    const pool = new Pool(origin, { pipelining: 1, connect: { timeout: 5000 }, keepAliveTimeout: 10_000 })
    pools.set(name, { origin, pool })
    return pool
  }
  return {
    execute: (execution) => executeHttp(execution, { environment, poolFor }),
    close: async () => {
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()))
    },
  }
}

type World = { readonly environment: NodeJS.ProcessEnv; readonly poolFor: (name: string, origin: string) => Pool }

async function executeHttp(execution: Execution, { environment, poolFor }: World): Promise<ExecutorResult> {
  const { connection } = execution
  const executor = execution.version.manifest.executor
  if (executor?.kind !== 'http' || connection === undefined)
    return fail('EXECUTOR_FAILED', 'connection_missing', 'The skill names no connection.')
  const headers = await credentials(connection, environment)
  if (typeof headers === 'string')
    return fail('EXECUTOR_FAILED', 'credential_missing', `The connection ${connection.name} lacks a credential.`)
  const request = buildRequest(connection, executor, execution.arguments)
  if ('badArgument' in request) {
    const { badArgument: name } = request
    return {
      kind: 'failed',
      code: 'INVALID_INPUT',
      reason: 'path_argument',
      message: `${name} is part of the address: it may not be missing, empty, a step such as .., or a parameter that is fixed.`,
      details: [{ path: `/${name}`, rule: 'path_argument' }],
    }
  }
  const ending = endInTime(execution.timeoutMs, execution.signal)
  try {
    const asking = poolFor(connection.name, request.origin).request({
      path: request.path,
      method: executor.method,
      headers: {
        ...headers,
        accept: 'application/json',
        ...(request.body === null ? {} : { 'content-type': 'application/json' }),
        ...(execution.traceparent === null ? {} : { traceparent: execution.traceparent }),
      },
      body: request.body,
      signal: ending.signal,
      // The deadline is one for the whole; two timers for each request would only cost.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const response = await ending.orEnd(asking)
    const body = await readBounded(response, execution.maxResultBytes)
    if (body === undefined)
      return fail(
        'EXECUTOR_FAILED',
        'too_large',
        `${execution.version.manifest.name} answered with more than ${execution.maxResultBytes} bytes.`,
      )
    return readAnswer(response.statusCode, body, execution.version.manifest.name)
  } catch (error) {
    if (execution.signal?.aborted === true) return fail('EXECUTOR_FAILED', 'cancelled', 'The call was ended before its answer came.')
    if (ending.isLate()) return fail('TIMEOUT', 'deadline', 'The deadline passed.')
    // Once the request may have left, what it did is unknown; only a connection that never came about did nothing.
    return isConnectFailure(error)
      ? fail('EXECUTOR_UNREACHABLE', 'network', `The connection ${connection.name} could not be reached.`)
      : fail('EXECUTOR_FAILED', 'connection_lost', `The connection ${connection.name} broke before the answer was there.`)
  } finally {
    ending.clear()
  }
}

async function credentials(connection: ConnectionRecord, environment: NodeJS.ProcessEnv): Promise<Record<string, string> | string> {
  const headers: Record<string, string> = {}
  for (const [name, ref] of Object.entries(connection.headers)) {
    // A file is read at each call, so that a rotated credential takes effect at once.
    const value =
      'env' in ref
        ? environment[ref.env]
        : await readFile(ref.file, 'utf8').then(
            (text) => text.trim(),
            () => undefined,
          )
    if (value === undefined || value === '') return name
    headers[name] = value
  }
  return headers
}

type BadArgument = { readonly badArgument: string }
type BuiltRequest = { readonly origin: string; readonly path: string; readonly body: string | null }

/**
 * Fills `{name}` places of the path from the arguments; what is left is the query of a GET or DELETE, or the JSON body.
 * Names the argument where one would lead to another path than the one declared, or take the place of a parameter in it.
 */
export function buildRequest(
  connection: ConnectionRecord,
  executor: { readonly path: string; readonly method: string },
  args: Record<string, unknown>,
): BuiltRequest | BadArgument {
  const rest = { ...args }
  let bad: string | undefined
  const filled = executor.path.replace(/\{([A-Za-z0-9_]+)\}/g, (_, name: string) => {
    const value = rest[name]
    delete rest[name]
    const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
    // These cannot be escaped: every client and server takes them for a step to another folder.
    if (text === '' || text === '.' || text === '..') bad ??= name
    return encodeURIComponent(text)
  })
  const base = baseOf(connection)
  const path = `${base.path}${filled}`
  if (bad !== undefined) return { badArgument: bad }
  if (executor.method !== 'GET' && executor.method !== 'DELETE') return { origin: base.origin, path, body: JSON.stringify(rest) }
  const [, declared = ''] = path.split('?')
  const query = new URLSearchParams(declared)
  for (const [name, value] of Object.entries(rest)) {
    if (query.has(name)) return { badArgument: name }
    query.append(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  const text = query.toString()
  return { origin: base.origin, path: text === '' ? path : `${path.split('?')[0]}?${text}`, body: null }
}

const bases = new WeakMap<ConnectionRecord, { readonly origin: string; readonly path: string }>()

function baseOf(connection: ConnectionRecord): { readonly origin: string; readonly path: string } {
  const known = bases.get(connection)
  if (known !== undefined) return known
  const { origin, pathname } = new URL(connection.baseUrl)
  const base = { origin, path: pathname.replace(/\/$/, '') }
  bases.set(connection, base)
  return base
}

// By its events: an iterator over a stream costs as much as the request itself.
function readBounded({ body }: Dispatcher.ResponseData, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    let hasEnded = false
    body
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= maxBytes) return void chunks.push(chunk)
        resolve(undefined)
        body.destroy()
      })
      .once('error', reject)
      .once('end', () => {
        hasEnded = true
        resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
      })
      .once('close', () => {
        if (!hasEnded) reject(new Error('the answer broke off'))
      })
  })
}

function fail(code: 'EXECUTOR_FAILED' | 'EXECUTOR_UNREACHABLE' | 'TIMEOUT', reason: string, message: string): ExecutorResult {
  return { kind: 'failed', code, reason, message, details: [] }
}
