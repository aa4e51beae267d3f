import { CodeBundle, RunRequest, type RunResult } from '@repertoire/contract'
import type { ChildProcess } from 'node:child_process'
import { chmod, mkdir, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { openCodeStore, type CodeStore } from './children/code-store.ts'
import { createPlaces, type Places } from './children/places.ts'
import { killGroup, runChild } from './children/run-child.ts'
import type { RunnerConfig } from './config.ts'
import { hostFunctionsFor } from './host/host-functions.ts'

/** A runner that listens. */
export type RunnerServer = { readonly close: () => Promise<void> }

const maxBodyBytes = 48 * 1024 * 1024

/** Listens on a UNIX socket that only this user can open, and runs what it is asked to. */
export async function serveRunner(config: RunnerConfig): Promise<RunnerServer> {
  await mkdir(config.codeDir, { recursive: true, mode: 0o700 })
  await rm(config.socketPath, { force: true })
  const room: Room = { config, store: openCodeStore(config.codeDir), places: createPlaces(config.processes), children: new Set() }
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    answer(room, request, response).catch((error: unknown) =>
      reply(response, 500, { message: error instanceof Error ? error.message : 'unknown' }),
    )
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(config.socketPath, () => resolve()))
  await chmod(config.socketPath, 0o600)
  return {
    close: async () => {
      for (const child of room.children) killGroup(child)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

type Room = { readonly config: RunnerConfig; readonly store: CodeStore; readonly places: Places; readonly children: Set<ChildProcess> }

async function answer(room: Room, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '' } = request
  if (method === 'GET' && url === '/healthz') return reply(response, 200, { ok: true })
  const digest = /^\/code\/(sha256:[0-9a-f]{64})$/.exec(url)?.[1]
  if (method === 'PUT' && digest !== undefined) {
    const bundle = CodeBundle.safeParse(await readJson(request))
    if (!bundle.success) return reply(response, 400, { message: 'not a bundle' })
    await room.store.put(digest, bundle.data)
    response.writeHead(204).end()
    return
  }
  if (method !== 'POST' || url !== '/runs') return reply(response, 404, { message: 'no such route' })
  const parsed = RunRequest.safeParse(await readJson(request))
  if (!parsed.success) return reply(response, 400, { message: parsed.error.message })
  // A registry that no longer waits has no use for the answer: the skill ends with the request.
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  reply(response, 200, await run(room, parsed.data, gone.signal))
}

async function run(room: Room, request: RunRequest, gone: AbortSignal): Promise<RunResult> {
  const started = performance.now()
  const codeDir = await room.store.find(request.code_digest)
  if (codeDir === undefined) return { kind: 'failed', reason: 'code_absent', message: 'the code is not here yet', run_ms: 0 }
  const release = await room.places.take(request.timeout_ms, gone)
  if (release === undefined) return { kind: 'failed', reason: 'busy', message: `all ${room.config.processes} places are taken`, run_ms: 0 }
  const over = new AbortController()
  try {
    const timeoutMs = Math.max(1, request.timeout_ms - (performance.now() - started))
    return await runChild({
      request,
      codeDir,
      timeoutMs,
      python: room.config.python,
      host: hostFunctionsFor(room.config, request.tags, over.signal),
      onFailure: (trace) => logFailure(room.config, request, trace),
      onChild: (child) => {
        const stop = (): void => killGroup(child)
        room.children.add(child)
        gone.addEventListener('abort', stop, { once: true })
        return () => {
          room.children.delete(child)
          gone.removeEventListener('abort', stop)
        }
      },
    })
  } finally {
    over.abort()
    release()
  }
}

function logFailure({ quiet }: RunnerConfig, { skill, call_id }: RunRequest, trace: string): void {
  if (!quiet) process.stderr.write(`${JSON.stringify({ level: 40, time: Date.now(), msg: 'a skill failed', skill, call_id, trace })}\n`)
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new Error(`the body is larger than ${maxBodyBytes} bytes`)
    chunks.push(chunk)
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

function reply(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent) return
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
