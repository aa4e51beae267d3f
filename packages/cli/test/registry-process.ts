import { spawn, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What a run of the command line left: its exit code and what it wrote. */
export type Ran = { readonly code: number | null; readonly out: string; readonly err: string }

/** A command under way. */
export type Running = { readonly process: ChildProcess; readonly ended: Promise<Ran> }

/** How the command line is run: what stands on standard input, and variables beside those of the admin. */
export type RunOptions = { readonly input?: string; readonly env?: Readonly<Record<string, string>> }

/** A registry of a test's own, and the command line pointed at it. */
export type TestRegistry = {
  readonly url: string
  readonly adminKeyFile: string
  readonly folder: string
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>
  readonly start: (args: readonly string[], options?: RunOptions) => Running
  /** Kills it in the middle of what it does, and starts it again in the same place. */
  readonly crash: () => Promise<void>
  readonly stop: () => Promise<void>
}

const registryMain = fileURLToPath(new URL('../../../services/registry/dist/main.js', import.meta.url))
const launcher = fileURLToPath(new URL('../bin/repertoire.js', import.meta.url))
const startDeadlineMs = 60_000

/** Starts a registry on a free port with a data directory of its own, and with these skills in its skills folder. */
export async function startRegistry(skills: Readonly<Record<string, string>>): Promise<TestRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'repertoire-cli-e2e-'))
  // As root, the embedded Postgres runs as another user, who has to reach its data.
  await chmod(folder, 0o711)
  await writeTree(join(folder, 'skills'), skills)
  await mkdir(join(folder, 'skills'), { recursive: true })
  const dataDir = join(folder, 'data')
  const env = {
    ...cleanEnvironment(),
    REPERTOIRE_PORT: '0',
    REPERTOIRE_DATA_DIR: dataDir,
    REPERTOIRE_SKILLS_DIR: join(folder, 'skills'),
    REPERTOIRE_LOG_LEVEL: 'warn',
  }
  let child = spawn(process.execPath, [registryMain], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const url = await addressOf(child)
  const adminKeyFile = join(dataDir, 'admin.key')
  const as = (options: RunOptions = {}): RunOptions => ({
    ...options,
    env: { REPERTOIRE_URL: url, REPERTOIRE_KEY_FILE: adminKeyFile, ...options.env },
  })
  return {
    url,
    adminKeyFile,
    folder,
    run: (args, options) => startCli(args, as(options)).ended,
    start: (args, options) => startCli(args, as(options)),
    crash: async () => {
      await endOf(child, 'SIGKILL')
      child = spawn(process.execPath, [registryMain], {
        env: { ...env, REPERTOIRE_PORT: new URL(url).port },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      await addressOf(child)
    },
    stop: async () => {
      await endOf(child, 'SIGTERM')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  return ended
}

/** Runs the built command line as a process of its own, to its end. */
export function runCli(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return startCli(args, options).ended
}

function startCli(args: readonly string[], { input, env }: RunOptions): Running {
  const child = spawn(process.execPath, [launcher, ...args], { env: { ...cleanEnvironment(), ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  // A command that refuses before it reads leaves nobody to write to.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input ?? '')
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, out, err }))
  })
  return { process: child, ended }
}

/** Writes files by their paths below a folder. */
export async function writeTree(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

/** The admin's key itself. */
export async function readAdminKey(registry: TestRegistry): Promise<string> {
  return (await readFile(registry.adminKeyFile, 'utf8')).trim()
}

function cleanEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('REPERTOIRE_') || name === 'DATABASE_URL' || name === 'NODE_OPTIONS' ? [] : [[name, value]],
    ),
  )
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const timer = setTimeout(() => reject(new Error(`the registry was not ready in time: ${said}`)), startDeadlineMs)
    const listen = (text: Buffer): void => {
      said += text.toString()
      const address = /ready at (http:\/\/\S+)/.exec(said)?.[1]
      if (address === undefined) return
      clearTimeout(timer)
      resolve(address)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the registry ended with ${code}: ${said}`))
    })
  })
}
