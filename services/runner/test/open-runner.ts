import type { RunResult } from '@repertoire/contract'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import type { RunnerConfig } from '../src/config.ts'
import { serveRunner } from '../src/serve.ts'

/** How a test runs code. */
export type Run = {
  readonly tags?: string[]
  readonly args?: Record<string, unknown>
  readonly timeoutMs?: number
  readonly maxResultBytes?: number
  readonly skill?: string
  readonly signal?: AbortSignal
}

/** A runner over temporary folders. */
export type OpenRunner = {
  readonly folder: string
  readonly mount: string
  /** Runs one file of code, sending it first. */
  readonly run: (entry: string, code: string, run?: Run) => Promise<RunResult>
  readonly post: (path: string, body: unknown) => Promise<{ readonly status: number; readonly body: unknown }>
  readonly close: () => Promise<void>
}

/** Starts a runner that listens in a folder of its own. */
export async function openRunner(change: Partial<RunnerConfig> = {}): Promise<OpenRunner> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-'))
  const mount = join(folder, 'workspace')
  await mkdir(mount)
  const config: RunnerConfig = {
    socketPath: join(folder, 's'),
    codeDir: join(folder, 'code'),
    mounts: new Map([['workspace', mount]]),
    fetchAllow: new Set(),
    smtp: undefined,
    processes: 4,
    python: 'python3',
    quiet: true,
    ...change,
  }
  const server = await serveRunner(config)
  const client = new Pool('http://runner', { socketPath: config.socketPath })
  const send = async (
    method: 'POST' | 'PUT',
    path: string,
    body: unknown,
    signal?: AbortSignal,
  ): Promise<{ status: number; body: unknown }> => {
    const response = await client.request({
      method,
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
    const text = await response.body.text()
    return { status: response.statusCode, body: text === '' ? null : JSON.parse(text) }
  }
  return {
    folder,
    mount,
    post: (path, body) => send('POST', path, body),
    run: async (
      entry,
      code,
      { tags = [], args = {}, timeoutMs = 10_000, maxResultBytes = 1024 * 1024, skill = 'some-skill', signal } = {},
    ) => {
      const digest = `sha256:${createHash('sha256').update(`${entry}\n${code}`).digest('hex')}`
      await send('PUT', `/code/${digest}`, { files: { [entry]: Buffer.from(code).toString('base64') } })
      const request = {
        code_digest: digest,
        entry,
        skill,
        tags,
        arguments: args,
        timeout_ms: timeoutMs,
        max_result_bytes: maxResultBytes,
        call_id: 'c',
        traceparent: null,
      }
      return (await send('POST', '/runs', request, signal)).body as RunResult
    },
    close: async () => {
      await client.destroy()
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
