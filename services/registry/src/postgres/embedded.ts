import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, chmod, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join, parse } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries, type PostgresBinaries } from './binaries.ts'
import { isAlive, livePostmaster } from './postmaster.ts'
import { serverUser, type ServerUser } from './server-user.ts'

/** A Postgres of our own, its address, and whether it was running already. */
export type EmbeddedPostgres = { readonly url: string; readonly adopted: boolean; readonly pid: number; readonly stop: () => Promise<void> }

/** How the server is run. `fast` gives up durability, for tests. */
export type EmbeddedOptions = { readonly dataDir: string; readonly fast?: boolean }

const startDeadlineMs = 30_000
const stopDeadlineMs = 6000

/** Starts Postgres under a data directory, or adopts the one that a killed process left running there. */
export async function startEmbeddedPostgres({ dataDir, fast = false }: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const user = serverUser()
  const clusterDir = join(dataDir, 'postgres')
  const secretFile = join(dataDir, 'secrets', 'postgres')
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 })
  await chmod(join(dataDir, 'secrets'), 0o700)
  // The server's user has to pass through the data directory; what is secret in it has a mode of its own.
  await chmod(dataDir, user === undefined ? 0o700 : 0o711)
  if (user !== undefined) await refuseClosedParents(dataDir, user)
  const running = await livePostmaster(clusterDir)
  if (running !== undefined) {
    const password = (await readFile(secretFile, 'utf8')).trim()
    return { url: urlOf(running.port, password), adopted: true, pid: running.pid, stop: () => stopPostmaster(running.pid, clusterDir) }
  }
  const binaries = await findBinaries(user)
  if (!(await exists(join(clusterDir, 'PG_VERSION')))) await initialise({ binaries, clusterDir, secretFile, user })
  const password = (await readFile(secretFile, 'utf8')).trim()
  const port = await freePort()
  const pid = await launch({ binaries, clusterDir, user, port, fast })
  return { url: urlOf(port, password), adopted: false, pid, stop: () => stopPostmaster(pid, clusterDir) }
}

type Cluster = { readonly binaries: PostgresBinaries; readonly clusterDir: string; readonly user: ServerUser | undefined }

async function initialise({ binaries, clusterDir, secretFile, user }: Cluster & { readonly secretFile: string }): Promise<void> {
  // A half-made cluster is what an interrupted first start leaves; nothing was ever stored in it.
  await rm(clusterDir, { recursive: true, force: true })
  await mkdir(clusterDir, { mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  const passwordFile = `${clusterDir}.password`
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user !== undefined) {
    await chown(clusterDir, user.uid, user.gid)
    await chown(passwordFile, user.uid, user.gid)
  }
  const made = spawnSync(
    binaries.initdb,
    ['-D', clusterDir, '-U', 'repertoire', '--pwfile', passwordFile, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...identity(user), encoding: 'utf8', timeout: 60_000 },
  )
  await rm(passwordFile, { force: true })
  if (made.status !== 0) {
    await rm(clusterDir, { recursive: true, force: true })
    throw new Error(
      `Postgres could not make its data directory ${clusterDir}: ${(made.stderr || String(made.error ?? '')).trim().split('\n').slice(-3).join(' ')}`,
    )
  }
  await writeFile(secretFile, password, { mode: 0o600 })
}

type Launch = Cluster & { readonly port: number; readonly fast: boolean }

async function launch({ binaries, clusterDir, user, port, fast }: Launch): Promise<number> {
  const log = await open(join(dirname(clusterDir), 'postgres.log'), 'a', 0o600)
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'shared_buffers=128MB',
    'wal_level=replica',
    'password_encryption=scram-sha-256',
    'timezone=UTC',
    'log_timezone=UTC',
    ...(fast ? ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off'] : []),
  ]
  const child = spawn(binaries.postgres, ['-D', clusterDir, ...settings.flatMap((setting) => ['-c', setting])], {
    ...identity(user),
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  })
  let failure: string | undefined
  child.once('error', (error) => (failure = error.message))
  child.once('exit', (code) => (failure ??= `it ended with code ${code}`))
  child.unref()
  await log.close()
  const deadline = Date.now() + startDeadlineMs
  while (Date.now() < deadline) {
    if (failure !== undefined) break
    const running = await livePostmaster(clusterDir)
    if (running !== undefined && running.isReady && running.pid === child.pid) return running.pid
    await sleep(25)
  }
  const tail = (await readFile(join(dirname(clusterDir), 'postgres.log'), 'utf8').catch(() => '')).trim().split('\n').slice(-3).join(' | ')
  throw new Error(`Postgres did not start (${failure ?? `not ready after ${startDeadlineMs / 1000} s`}): ${tail}`)
}

async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  // SIGINT is the fast shutdown: sessions are ended, everything committed stays.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isAlive(pid)) return
    process.kill(pid, signal)
    const deadline = Date.now() + stopDeadlineMs
    while (Date.now() < deadline && isAlive(pid) && (await exists(join(clusterDir, 'postmaster.pid')))) await sleep(20)
    if (!(await exists(join(clusterDir, 'postmaster.pid')))) return
  }
}

/** The server's user must be able to enter every folder above its data; a sentence here beats a stack trace of initdb. */
async function refuseClosedParents(dataDir: string, user: ServerUser): Promise<void> {
  const { root } = parse(dataDir)
  for (let at = dirname(dataDir); at !== root; at = dirname(at)) {
    const { mode, uid, gid } = await stat(at)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) {
      throw new Error(
        `Postgres runs as the user ${user.name}, which may not enter ${at}: set REPERTOIRE_DATA_DIR to a folder outside it (such as /var/lib/repertoire), run as another user than root, or set DATABASE_URL.`,
      )
    }
  }
}

function identity(user: ServerUser | undefined): {
  readonly uid?: number
  readonly gid?: number
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
} {
  return {
    ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }),
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  }
}

function urlOf(port: number, password: string): string {
  return `postgres://repertoire:${password}@127.0.0.1:${port}/postgres`
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
