import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Database } from '../store/connect.ts'
import { createHeartbeat, type Heartbeat } from '../store/heartbeat.ts'
import { loadSavedSnapshot } from '../store/saved-snapshot.ts'
import { createSnapshotFeed, type Confirmed, type SnapshotFeed } from '../store/snapshot-feed.ts'
import { createSnapshotSaver } from '../store/snapshot-saver.ts'

/** The catalogue of this replica: what follows the database, what tells the others, and what the disk kept. */
export type OpenCatalogue = {
  readonly feed: SnapshotFeed
  readonly heartbeat: Heartbeat
  readonly saved: Confirmed | undefined
  readonly stop: () => Promise<void>
}

/** Opens the catalogue; nothing is read from the database before it is started. */
export async function openCatalogue(
  config: Config,
  {
    database,
    instance,
    logger,
    logLagMs,
  }: { readonly database: Database; readonly instance: string; readonly logger: Logger; readonly logLagMs: () => number },
): Promise<OpenCatalogue> {
  const folder = join(config.dataDir, 'snapshot')
  // An embedded Postgres is there or the start fails; one elsewhere may be away, and then the disk has what was last known.
  const saved = config.databaseUrl === undefined ? undefined : await loadSavedSnapshot(folder)
  const saver = createSnapshotSaver(folder, (error) => logger.warn({ err: error }, 'the catalogue could not be saved'))
  const heartbeat = createHeartbeat({
    database,
    instance,
    replica: config.replica,
    logLagMs,
    onError: (error) => logger.debug({ err: error }, 'a heartbeat was not written'),
  })
  const feed = createSnapshotFeed({
    database,
    now: Date.now,
    from: saved,
    onError: (error) => logger.warn({ err: error }, 'the catalogue could not be read again'),
    onRestored: (held, found) =>
      logger.error(
        { held, found },
        'the database is behind what this replica held: a backup was restored; its epoch is raised and everything read anew',
      ),
  })
  feed.onConfirmed((confirmed) => {
    heartbeat.applied(confirmed.snapshot.revision)
    saver.note(confirmed)
  })
  return {
    feed,
    heartbeat,
    saved,
    stop: async () => {
      await feed.stop()
      await Promise.all([saver.stop(), heartbeat.signOff()])
    },
  }
}
