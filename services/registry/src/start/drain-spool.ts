import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { drainFolder } from '../log/drain-folder.ts'
import { claimFolder } from '../log/spool/claim-folder.ts'
import { withDeadline } from '../log/with-deadline.ts'
import { openDatabase, type Pool } from '../store/connect.ts'
import { databaseErrorCode } from '../store/database-error.ts'
import { watchPools } from '../store/watch-pools.ts'
import { takeDataDirectory } from './data-directory.ts'
import { explainStart } from './explain-start.ts'

/** Which directory, and who hears how it goes. */
export type SpoolDrain = {
  readonly directory: string
  readonly say: (line: string) => void
  /** After how long without a row that was brought it is given up; a minute unless told. */
  readonly patienceMs?: number
}

const connectMs = 8000

/** Brings the calls on the disk of a replica that never comes back to the database of DATABASE_URL, and says what became of them. */
export async function drainSpool(config: Config, { directory, say, patienceMs = 60_000 }: SpoolDrain): Promise<string> {
  const { databaseUrl } = config
  if (databaseUrl === undefined)
    throw new ConfigError('spool drain brings calls to the database of DATABASE_URL: set it to the one that the replicas share.')
  const { dataDir, folder } = await findSpool(resolve(directory))
  const held = await takeDataDirectory(dataDir)
  const database = openDatabase(databaseUrl)
  const stopWatching = watchPools(database)
  try {
    const installId = await readInstallId(database.log).catch((error: unknown) => {
      throw explainStart(error, config)
    })
    await claimFolder(folder, installId)
    const drained = await drainFolder({
      log: database.log,
      folder,
      installId,
      onProgress: (rows) => say(`${rows} rows brought`),
      onError: (error) => say(error instanceof Error ? error.message : String(error)),
      patienceMs,
    })
    const aside =
      drained.refused === 0 ? '' : `; ${drained.refused} could not be taken whole and are kept in ${join(folder, 'refused.ndjson')}`
    const told = `${drained.rows} rows of ${folder} are in Postgres${aside}`
    if (!drained.isEmpty)
      throw new Error(`${told}; the rest could not be brought and stays where it is: see to what was said above, and run this again.`)
    return `${told}, and nothing is left in it; calls told as unknown: ${drained.unknown}.`
  } finally {
    stopWatching()
    await database.close()
    await held.release()
  }
}

// Whoever looks at the disk of a lost machine may name its data directory or the spool in it.
async function findSpool(directory: string): Promise<{ readonly dataDir: string; readonly folder: string }> {
  const inside = join(directory, 'spool')
  if (await isThere(join(inside, 'spool-id'))) return { dataDir: directory, folder: inside }
  if (await isThere(join(directory, 'spool-id'))) return { dataDir: dirname(directory), folder: directory }
  throw new ConfigError(`There is no spool in ${directory}: name the data directory of the replica that is gone.`)
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

async function readInstallId(log: Pool): Promise<string> {
  // Not through the gate, which would only say that the database is away, and not why.
  const asked = log.sql<{ install_id: string }[]>`select install_id from installation`
  const [found] = await withDeadline(asked, connectMs).catch((error: unknown) => {
    if (databaseErrorCode(error) === '42P01') return []
    throw error
  })
  if (found === undefined) throw new ConfigError('The database of DATABASE_URL holds no registry.')
  return found.install_id
}
