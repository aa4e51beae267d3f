import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import { makeFirstAdmin } from '../access/make-first-admin.ts'
import { seedSkills, type SeedReport } from '../catalogue/seed-skills.ts'
import type { Config } from '../config.ts'
import type { Deps } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import { isDatabaseAway } from '../store/database-error.ts'
import { requireInstallSecret } from '../store/install-secret.ts'
import { migrate } from '../store/migrate.ts'
import type { SnapshotFeed } from '../store/snapshot-feed.ts'
import { writeAdminKey } from './admin-key-file.ts'
import { readSkillFolders } from './skill-folders.ts'

/** What bringing the database up takes. */
export type BringUp = {
  readonly config: Config
  readonly url: string
  readonly deps: Deps
  readonly database: Database
  readonly feed: SnapshotFeed
  readonly logger: Logger
  readonly checkpoint: () => void
  readonly connectDeadlineMs?: number
}

/** What a database that is up was given: the first key, when there was none, and the skills of the folder. */
export type BroughtUp = { readonly madeKey: boolean; readonly seeded: readonly SeedReport[] }

/** Migrates, reads the catalogue, and does the first-start work; one replica at a time. */
export async function bringUp({ config, url, deps, database, feed, logger, checkpoint, connectDeadlineMs }: BringUp): Promise<BroughtUp> {
  return migrate(
    url,
    async () => {
      await requireInstallSecret(database.db, deps.settings.installSecret, { at: deps.clock.now(), mayRenew: config.mayRenewSecret })
      await feed.start()
      const madeKey = await makeFirstAdmin(deps, (key) => writeAdminKey(config.adminKeyFile, key))
      checkpoint()
      const seeded = await seedSkills(deps, { folders: await readSkillFolders(config.skillsDir), releaseNew: config.releaseNewAtStart })
      for (const { folder, fault } of seeded)
        if (fault !== undefined) logger.error({ err: fault, folder }, 'a skill folder could not be stored')
      return { madeKey: madeKey !== undefined, seeded }
    },
    connectDeadlineMs,
  )
}

const againMs = 1000

/** Tries until the database is back; answers with a way to give up. */
export function keepBringingUp(what: BringUp): () => void {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const attempt = (): void => {
    bringUp(what).then(
      () => {
        if (!isOver) what.logger.info('the database is back')
      },
      (error: unknown) => {
        if (isOver) return
        if (!isAway(error)) what.logger.error({ err: error }, 'the database is back, and cannot be used')
        timer = setTimeout(attempt, againMs)
        timer.unref()
      },
    )
  }
  what.feed.follow()
  timer = setTimeout(attempt, againMs)
  timer.unref()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** Whether a start failed only because the database does not answer. */
export function isAway(error: unknown): boolean {
  return isDatabaseAway(error) || (error instanceof Refusal && error.code === 'UNAVAILABLE')
}
