import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join, parse } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findBinaries } from './binaries.ts'
import { exists, initialise, launch, stopPostmaster, type Launch } from './cluster.ts'
import { isAlive, livePostmaster, type Postmaster } from './postmaster.ts'
import { serverUser, type ServerUser } from './server-user.ts'

/** A Postgres of our own, its address, and whether it was running already. */
export type EmbeddedPostgres = { readonly url: string; readonly adopted: boolean; readonly stop: () => Promise<void> }

/** How the server is run. `fast` gives up durability, for tests; `onTrouble` hears when it died and is started again. */
export type EmbeddedOptions = {
  readonly dataDir: string
  readonly fast?: boolean
  readonly onTrouble?: (what: string, error?: unknown) => void
}

const adoptDeadlineMs = 30_000
const watchMs = 500

/** Starts Postgres under a data directory, or adopts the one that a killed process left running there, and keeps it running. */
export async function startEmbeddedPostgres({
  dataDir,
  fast = false,
  onTrouble = () => undefined,
}: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const user = serverUser()
  const clusterDir = join(dataDir, 'postgres')
  const secretFile = join(dataDir, 'secrets', 'postgres')
  await mkdir(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 })
  await chmod(join(dataDir, 'secrets'), 0o700)
  // The server's user has to pass through the data directory; what is secret in it has a mode of its own.
  await chmod(dataDir, user === undefined ? 0o700 : 0o711)
  if (user !== undefined) await refuseClosedParents(dataDir, user)
  const binaries = await findBinaries(user)
  const running = await readyPostmaster(clusterDir)
  if (running === undefined && !(await exists(join(clusterDir, 'PG_VERSION')))) await initialise({ binaries, clusterDir, secretFile, user })
  const password = (await readFile(secretFile, 'utf8')).trim()
  const port = running?.port ?? (await freePort())
  const start: Launch = { binaries, clusterDir, user, port, fast }
  const keeper = keepRunning(running?.pid ?? (await launch(start)), start, onTrouble)
  return { url: urlOf(port, password), adopted: running !== undefined, stop: keeper.stop }
}

/** The server that is running and takes connections; one that is on its way up or down is waited for. */
async function readyPostmaster(clusterDir: string): Promise<Postmaster | undefined> {
  const deadline = Date.now() + adoptDeadlineMs
  for (;;) {
    const found = await livePostmaster(clusterDir)
    if (found === undefined || found.isReady) return found
    if (Date.now() > deadline)
      throw new Error(
        `The Postgres of ${clusterDir} (process ${found.pid}) has been neither up nor down for ${adoptDeadlineMs / 1000} s: end it, then start again.`,
      )
    await sleep(50)
  }
}

// A server that was killed is started again at the same port, so that its address stays good.
function keepRunning(
  firstPid: number,
  start: Launch,
  onTrouble: (what: string, error?: unknown) => void,
): { readonly stop: () => Promise<void> } {
  let pid = firstPid
  let starting: Promise<void> | undefined
  const look = (): void => {
    if (starting !== undefined || isAlive(pid)) return
    onTrouble('the embedded Postgres ended; it is started again')
    starting = launch(start)
      .then(
        (started) => void (pid = started),
        (error: unknown) => onTrouble('the embedded Postgres could not be started again yet', error),
      )
      .finally(() => (starting = undefined))
  }
  const timer = setInterval(look, watchMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await starting
      await stopPostmaster(pid, start.clusterDir)
    },
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

function urlOf(port: number, password: string): string {
  return `postgres://repertoire:${password}@127.0.0.1:${port}/postgres`
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
