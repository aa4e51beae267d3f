import type { RunRequest, RunResult } from '@repertoire/contract'
import { spawn, type ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { HostError } from '../host/host-error.ts'
import { changesTheWorld, type HostFunctions } from '../host/host-functions.ts'
import { readMessages, type ChildMessage } from './messages.ts'

/** Everything one run needs. */
export type ChildRun = {
  readonly request: RunRequest
  readonly codeDir: string
  readonly python: string
  readonly host: HostFunctions
  readonly timeoutMs: number
  readonly onChild: (child: ChildProcess) => () => void
  /** Hears what a failed run left behind: its trace, or the end of what it printed. */
  readonly onFailure: (trace: string) => void
}

const nodeHarness = fileURLToPath(new URL('../../harness/run-skill.mjs', import.meta.url))
const pythonHarness = fileURLToPath(new URL('../../harness/run_skill.py', import.meta.url))
const maxNoiseBytes = 4096
// A file that a skill writes travels in one message, as base64.
const maxHostArgumentBytes = 24 * 1024 * 1024

/** Runs a skill in a process of its own and ends the whole process group at the deadline. */
export async function runChild({ request, codeDir, python, host, timeoutMs, onChild, onFailure }: ChildRun): Promise<RunResult> {
  const started = performance.now()
  const isPython = request.entry.endsWith('.py')
  const command = isPython ? python : process.execPath
  const args = isPython ? ['-I', '-B', '-X', 'utf8', pythonHarness] : ['--max-old-space-size=256', nodeHarness]
  const child = spawn(command, args, {
    cwd: codeDir,
    detached: true,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const forget = onChild(child)
  let timer: NodeJS.Timeout | undefined
  try {
    const noise = collectNoise(child)
    const ended = endOf(child)
    const spoken = converse({ child, request, codeDir, host })
    const late = new Promise<Ending>((resolve) => {
      timer = setTimeout(
        () => resolve({ kind: 'failed', reason: 'timeout', message: `it ran longer than ${Math.round(timeoutMs)} ms` }),
        timeoutMs,
      )
    })
    const first = await Promise.race([spoken, ended, late])
    // What was said just before the end still counts.
    const ending = first.kind === 'failed' && first.reason === 'killed' ? await Promise.race([spoken, wait(50, first)]) : first
    if (ending.kind === 'failed') onFailure(ending.trace ?? noise())
    return { ...withoutTrace(ending, codeDir), run_ms: Math.round(performance.now() - started) }
  } finally {
    clearTimeout(timer)
    killGroup(child)
    forget()
  }
}

/** Ends a process and everything it started. */
export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

type WithoutTime<T> = T extends unknown ? Omit<T, 'run_ms'> : never
type Ending = WithoutTime<RunResult> & { readonly trace?: string }

// A path of this machine is nothing a caller can use.
function withoutTrace({ trace: _, ...ending }: Ending, codeDir: string): WithoutTime<RunResult> {
  const told = ending as WithoutTime<RunResult>
  return told.kind === 'failed' ? { ...told, message: told.message.replaceAll(codeDir, '.') } : told
}

type Conversation = { readonly child: ChildProcess; readonly request: RunRequest; readonly codeDir: string; readonly host: HostFunctions }

async function converse({ child, request, codeDir, host }: Conversation): Promise<Ending> {
  const channel = child.stdio[3] as Socket
  channel.on('error', () => undefined)
  const send = (message: object): void => void (channel.writable && channel.write(`${JSON.stringify(message)}\n`))
  const touched = { world: false }
  const entry = request.entry.replace(/\.ts$/, '.js')
  send({
    type: 'run',
    code_dir: codeDir,
    entry,
    skill: request.skill,
    arguments: request.arguments,
    call_id: request.call_id,
    traceparent: request.traceparent,
  })
  for await (const message of readMessages(channel, request.max_result_bytes * 2 + maxHostArgumentBytes)) {
    if (message === 'too_large')
      return { kind: 'failed', reason: 'too_large', message: `it answered with more than ${request.max_result_bytes} bytes` }
    if (message.type === 'host') void answerHost(message, { host, send, touched })
    else return toEnding(message, request.max_result_bytes, touched.world)
  }
  return { kind: 'failed', reason: 'killed', message: 'it ended without an answer' }
}

type HostAnswering = { readonly host: HostFunctions; readonly send: (message: object) => void; readonly touched: { world: boolean } }

async function answerHost(
  { id, name, args }: Extract<ChildMessage, { type: 'host' }>,
  { host, send, touched }: HostAnswering,
): Promise<void> {
  try {
    const value = await host(name, args)
    if (changesTheWorld(name, args)) touched.world = true
    send({ type: 'reply', id, ok: true, value })
  } catch (error) {
    // What broke on our side may carry a path of this machine: a skill learns that it broke, and no more.
    const told = error instanceof HostError ? error : new HostError('HOST_FAILED', `${name} failed.`, { effect: 'possible' })
    if (told.effect === 'possible') touched.world = true
    send({ type: 'reply', id, ok: false, code: told.code, message: told.message, retryable: told.retryable })
  }
}

function toEnding(message: Exclude<ChildMessage, { type: 'host' }>, maxBytes: number, touchedTheWorld: boolean): Ending {
  if (message.type === 'done') {
    if (Buffer.byteLength(message.json) > maxBytes)
      return { kind: 'failed', reason: 'too_large', message: `it answered with more than ${maxBytes} bytes` }
    return { kind: 'result', json: message.json }
  }
  if (message.type === 'skill_error') {
    const { code, retryable, details } = message
    return {
      kind: 'skill_error',
      code,
      message: message.message,
      retryable,
      details,
      effect: touchedTheWorld ? 'possible' : message.effect,
    }
  }
  return {
    kind: 'failed',
    reason: message.reason,
    message: message.message,
    ...(message.trace === undefined ? {} : { trace: message.trace }),
  }
}

function endOf(child: ChildProcess): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'ENOENT'
          ? { kind: 'failed', reason: 'interpreter_missing', message: `${error.path ?? 'the interpreter'} is not installed` }
          : { kind: 'failed', reason: 'killed', message: error.message },
      ),
    )
    child.once('exit', (code, signal) =>
      resolve({
        kind: 'failed',
        reason: 'killed',
        message: `it ended ${signal === null ? `with code ${code}` : `by ${signal}`} and no answer`,
      }),
    )
  })
}

// What a skill prints is not its answer; the end of it helps whoever looks for the reason of a failure.
function collectNoise(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0)
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (tail = Buffer.concat([tail, chunk]).subarray(-maxNoiseBytes)))
  return () => tail.toString('utf8').trim().split('\n').slice(-3).join(' | ')
}

function wait<T>(ms: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(value), ms))
}
