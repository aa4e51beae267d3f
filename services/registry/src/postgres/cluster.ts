import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresBinaries } from './binaries.ts'
import { isAlive, livePostmaster, seePostmaster } from './postmaster.ts'
import type { ServerUser } from './server-user.ts'

const startDeadlineMs = 30_000
const stopDeadlineMs = 6000

/** A data directory of a server, the programs it runs with, and the user they run as. */
export type Cluster = { readonly binaries: PostgresBinaries; readonly clusterDir: string; readonly user: ServerUser | undefined }

/** Makes a data directory and its password. It gets its name last, so that a start cut short leaves nothing that looks finished. */
export async function initialise({ binaries, clusterDir, secretFile, user }: Cluster & { readonly secretFile: string }): Promise<void> {
  // An initdb whose registry was killed goes on for a moment, so each has a folder of its own.
  await removeLeftovers(clusterDir)
  const staging = `${clusterDir}.new-${process.pid}-${randomBytes(4).toString('hex')}`
  await mkdir(staging, { mode: 0o700 })
  const password = randomBytes(24).toString('base64url')
  const passwordFile = `${clusterDir}.password`
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (user !== undefined) {
    await chown(staging, user.uid, user.gid)
    await chown(passwordFile, user.uid, user.gid)
  }
  const made = spawnSync(
    binaries.initdb,
    ['-D', staging, '-U', 'repertoire', '--pwfile', passwordFile, '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-sync'],
    { ...identity(user), encoding: 'utf8', timeout: 60_000 },
  )
  await rm(passwordFile, { force: true })
  if (made.status !== 0) {
    await rm(staging, { recursive: true, force: true })
    throw new Error(
      `Postgres could not make its data directory ${clusterDir}: ${(made.stderr || String(made.error ?? '')).trim().split('\n').slice(-3).join(' ')}`,
    )
  }
  await writeFile(secretFile, password, { mode: 0o600 })
  await rename(staging, clusterDir)
}

async function removeLeftovers(clusterDir: string): Promise<void> {
  const prefix = `${basename(clusterDir)}.new-`
  for (const name of await readdir(dirname(clusterDir))) {
    if (name.startsWith(prefix)) await rm(join(dirname(clusterDir), name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** What a server is launched with. */
export type Launch = Cluster & { readonly port: number; readonly fast: boolean }

/** Starts the server and answers with its process id once it takes connections; one that is coming up by now is waited for. */
export async function launch({ binaries, clusterDir, user, port, fast }: Launch): Promise<number> {
  const there = await livePostmaster(clusterDir)
  if (there !== undefined) return whenReady(clusterDir, { pid: there.pid, failure: () => (isAlive(there.pid) ? undefined : 'it ended') })
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
  return whenReady(clusterDir, { pid: child.pid, failure: () => failure })
}

type Starting = { readonly pid: number | undefined; readonly failure: () => string | undefined }

async function whenReady(clusterDir: string, { pid, failure }: Starting): Promise<number> {
  const deadline = Date.now() + startDeadlineMs
  while (Date.now() < deadline && failure() === undefined) {
    const running = await seePostmaster(clusterDir)
    if (running !== undefined && running.isReady && running.pid === pid) return running.pid
    await sleep(25)
  }
  const tail = (await readFile(join(dirname(clusterDir), 'postgres.log'), 'utf8').catch(() => '')).trim().split('\n').slice(-3).join(' | ')
  throw new Error(`Postgres did not start (${failure() ?? `not ready after ${startDeadlineMs / 1000} s`}): ${tail}`)
}

/** Shuts a server down: fast first, then at once. */
export async function stopPostmaster(pid: number, clusterDir: string): Promise<void> {
  // SIGINT is the fast shutdown: sessions are ended, everything committed stays.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    if (!isAlive(pid)) return
    process.kill(pid, signal)
    const deadline = Date.now() + stopDeadlineMs
    while (Date.now() < deadline && isAlive(pid) && (await exists(join(clusterDir, 'postmaster.pid')))) await sleep(20)
    if (!(await exists(join(clusterDir, 'postmaster.pid')))) return
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

/** Whether something is there. */
export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
