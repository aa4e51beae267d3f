import { join } from 'node:path'
import { userInfo } from 'node:os'
import { breakGlass } from '../access/break-glass.ts'
import type { Config } from '../config.ts'
import { createIds } from '../ids.ts'
import { startEmbeddedPostgres } from '../postgres/embedded.ts'
import { livePostmaster } from '../postgres/postmaster.ts'
import { openDatabase } from '../store/connect.ts'
import { keepHead } from '../store/kept-head.ts'
import { openStore } from '../store/open-store.ts'
import { createSnapshotFeed } from '../store/snapshot-feed.ts'
import { writeAdminKey } from './admin-key-file.ts'
import { readInstallSecret, takeDataDirectory } from './data-directory.ts'

/** Makes a new admin key with nothing but the database and the data directory, beside a registry that runs or without one. */
export async function makeAdminKey(config: Config): Promise<string> {
  const secret = await readInstallSecret(config.secretFile)
  const { url, release } = await reachDatabase(config)
  const database = openDatabase(url)
  const clock = { now: () => new Date() }
  const say = (error: unknown): void => void process.stderr.write(`repertoire: ${String(error)}\n`)
  const head = keepHead({ folder: config.dataDir, database, onError: say })
  const feed = createSnapshotFeed({ database, now: Date.now, onError: say })
  const store = openStore(database, { feed, secret, head })
  try {
    await breakGlass(
      { store, clock, ids: createIds(clock) },
      { reason: `break-glass by ${userInfo().username} on this machine`, keep: (key) => writeAdminKey(config.adminKeyFile, key) },
    )
    return `A new admin key is in ${config.adminKeyFile}; the audit log has an event of it.`
  } finally {
    await head.stop()
    await database.close()
    await release()
  }
}

// An embedded Postgres that a registry runs is used as it is; one that is down is brought up for this, and taken down again.
async function reachDatabase(config: Config): Promise<{ readonly url: string; readonly release: () => Promise<void> }> {
  if (config.databaseUrl !== undefined) return { url: config.databaseUrl, release: async () => undefined }
  const running = await livePostmaster(join(config.dataDir, 'postgres'))
  const directory = running === undefined ? await takeDataDirectory(config.dataDir) : undefined
  const embedded = await startEmbeddedPostgres({ dataDir: config.dataDir })
  return {
    url: embedded.url,
    release: async () => {
      if (directory === undefined) return
      await embedded.stop()
      await directory.release()
    },
  }
}
