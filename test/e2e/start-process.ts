import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { houseDir } from '../support/read-house.ts'

/** A registry as a process of its own. */
export type RegistryProcess = {
  readonly url: string
  readonly key: string
  readonly child: ChildProcess
  readonly output: () => string
  readonly readyMs: number
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ) => Promise<{ readonly status: number; readonly body: Envelope }>
  /** Ends it by a signal and answers with its exit code. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>
}

/** An answer, loosely: tests say what they expect of it. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Envelope = any

/** A folder that goes when the test is over; Postgres may enter it. */
export async function temporaryFolder(): Promise<{ readonly path: string; readonly remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'repertoire-e2e-'))
  await chmod(path, 0o755)
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Starts a process and answers with what it printed and its exit code, for starts that are expected to fail. */
export async function runToEnd(environment: Record<string, string>): Promise<{ readonly code: number | null; readonly output: string }> {
  const { child, output } = launch(environment)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  return { code, output: output() }
}

/** Starts a registry from what was built, and waits until it says that it is ready. */
export async function startProcess(environment: Record<string, string>): Promise<RegistryProcess> {
  const started = performance.now()
  const { child, output } = launch({ REPERTOIRE_PORT: '0', REPERTOIRE_AGENT_RATE: '1000000', ...environment })
  const url = await new Promise<string>((resolve, reject) => {
    const look = (): void => {
      const found = /Repertoire is ready at (\S+)/.exec(output())?.[1]
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', look)
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${output()}`)))
  })
  const readyMs = performance.now() - started
  const key = (await readFile(join(environment['REPERTOIRE_DATA_DIR'] ?? '', 'admin.key'), 'utf8').catch(() => '')).trim()
  return {
    url,
    key,
    child,
    output,
    readyMs,
    send: async (method, path, body, ownKey = key) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${ownKey}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: await response.json() }
    },
    end: async (signal) => {
      if (child.exitCode !== null) return child.exitCode
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
      child.kill(signal)
      return ended
    },
  }
}

function launch(environment: Record<string, string>): { readonly child: ChildProcess; readonly output: () => string } {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('REPERTOIRE_') && name !== 'DATABASE_URL'),
  )
  const child = spawn(process.execPath, ['services/registry/dist/main.js'], {
    cwd: houseDir,
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, output: () => text }
}
