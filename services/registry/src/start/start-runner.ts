import { settings } from '@repertoire/contract'
import type { RedactionPolicy } from '@repertoire/core'
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { redactLine } from './application-log.ts'
import { passOnLines } from './pass-on-lines.ts'

/** The runner of this registry: a process of its own, started again when it dies. */
export type Runner = { readonly socketPath: string; readonly stop: () => Promise<void> }

const program = fileURLToPath(new URL('../../../runner/dist/main.js', import.meta.url))
const readyDeadlineMs = 10_000

/** Starts the runner, or uses one that was started elsewhere. It gets its own settings and nothing else of our environment. */
export async function startRunner(
  config: Config,
  { logger, redaction }: { readonly logger: Logger; readonly redaction: RedactionPolicy },
): Promise<Runner> {
  if (config.runnerSocket !== undefined) return { socketPath: config.runnerSocket, stop: async () => undefined }
  const socketPath = await socketFor(config.dataDir)
  let child: ChildProcess | undefined
  let stopping = false
  let delayMs = 200
  const launch = (): void => {
    const started = Date.now()
    child = spawn(process.execPath, [program, '--with-parent'], {
      stdio: ['pipe', 'inherit', 'pipe'],
      env: runnerEnvironment(config, socketPath),
    })
    // What a skill broke with stands in its error, and may be a secret.
    if (child.stderr !== null) passOnLines(child.stderr, (line) => process.stderr.write(redactLine(redaction, line)))
    child.once('exit', (code, signal) => {
      if (stopping) return
      delayMs = Date.now() - started > 10_000 ? 200 : Math.min(delayMs * 2, 5000)
      logger.warn({ code, signal, delay_ms: delayMs }, 'the runner ended; it is started again')
      setTimeout(launch, delayMs).unref()
    })
  }
  launch()
  await waitForSocket(socketPath)
  return {
    socketPath,
    stop: async () => {
      stopping = true
      const ended = new Promise<void>((resolve) =>
        child === undefined || child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('exit', () => resolve()),
      )
      // The runner ends when its input does, so that it never outlives a registry that was killed.
      child?.stdin?.end()
      await Promise.race([ended, sleep(2000)])
      child?.kill('SIGKILL')
      await rm(socketPath, { force: true })
    },
  }
}

function runnerEnvironment(config: Config, socketPath: string): NodeJS.ProcessEnv {
  const names = settings.filter((setting) => setting.by === 'runner').map((setting) => setting.name)
  const own = Object.fromEntries(
    names.flatMap((name) => (config.environment[name] === undefined ? [] : [[name, config.environment[name]]])),
  )
  return {
    PATH: config.environment['PATH'],
    REPERTOIRE_RUNNER_SOCKET: socketPath,
    REPERTOIRE_DATA_DIR: config.dataDir,
    REPERTOIRE_LOG_LEVEL: config.logLevel,
    ...own,
  }
}

// A socket's path has at most 107 bytes, and a data directory may lie deep.
async function socketFor(dataDir: string): Promise<string> {
  const inside = join(dataDir, 'runner.sock')
  if (Buffer.byteLength(inside) <= 100) return inside
  const folder = join(tmpdir(), `repertoire-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  return join(folder, 'runner.sock')
}

async function waitForSocket(path: string): Promise<void> {
  const deadline = Date.now() + readyDeadlineMs
  while (Date.now() < deadline) {
    const answers = await new Promise<boolean>((resolve) => {
      const socket = connect(path)
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('close', () => undefined)
      setTimeout(() => socket.destroy(), 200).unref()
    })
    if (answers) return
    await sleep(25)
  }
  throw new Error(`The runner did not listen on ${path} within ${readyDeadlineMs / 1000} s.`)
}
