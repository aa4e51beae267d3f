import { Refusal } from '@repertoire/core'
import type { Logger } from 'pino'
import { makeFirstAdmin } from '../access/make-first-admin.ts'
import { seedSkills, type SeedReport } from '../catalogue/seed-skills.ts'
import type { Config } from '../config.ts'
import type { OpenCallLog } from '../log/open-call-log.ts'
import type { Deps } from '../ports.ts'
import type { Database } from '../store/connect.ts'
import { databaseErrorCode, isDatabaseAway } from '../store/database-error.ts'
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
  readonly calls: OpenCallLog
  readonly feed: SnapshotFeed
  readonly logger: Logger
  readonly checkpoint: () => void
  readonly connectDeadlineMs?: number
}

/** What a database that is up was given: the first key, when there was none, and the skills of the folder. */
export type BroughtUp = { readonly madeKey: boolean; readonly seeded: readonly SeedReport[] }

/** Migrates, reads the catalogue, and does the first-start work; one replica at a time. */
export async function bringUp({
  config,
  url,
  deps,
  database,
  calls,
  feed,
  logger,
  checkpoint,
  connectDeadlineMs,
}: BringUp): Promise<BroughtUp> {
  return migrate(
    url,
    async () => {
      await feed.start()
      // Whether it is our installation at all comes before anything that is written to it.
      await calls.begin(feed.current().installId)
      await requireInstallSecret(database.general.db, deps.settings.installSecret, {
        at: deps.clock.now(),
        mayRenew: config.mayRenewSecret,
      })
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
// A database that hangs in the middle is given up after this long, and asked anew.
const attemptMs = 60_000

/** Tries until the database is back, beginning with an attempt that may be under way; answers with a way to give up. */
export function keepBringingUp(what: BringUp, underWay?: Promise<BroughtUp>): () => void {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const again = (): void => {
    if (isOver) return
    timer = setTimeout(() => attempt(bringUp(what)), againMs)
    timer.unref()
  }
  const attempt = (running: Promise<BroughtUp>): void => {
    let settled = false
    const end = (then: () => void): void => {
      if (settled || isOver) return
      settled = true
      then()
    }
    const late = setTimeout(() => end(again), attemptMs)
    late.unref()
    running.then(
      () => end(() => what.logger.info('the database is back')),
      (error: unknown) =>
        end(() => {
          if (!isAway(error)) what.logger.error({ err: error }, 'the database is back, and cannot be used')
          again()
        }),
    )
  }
  what.feed.follow()
  if (underWay === undefined) again()
  else attempt(underWay)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** The same as bringing up, as long as it takes no longer than somebody who has something to serve wants to wait. */
export async function bringUpSoon(what: BringUp, withinMs: number): Promise<BroughtUp | { readonly underWay: Promise<BroughtUp> }> {
  const underWay = bringUp(what)
  underWay.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<{ readonly underWay: Promise<BroughtUp> }>(
    (resolve) => (timer = setTimeout(() => resolve({ underWay }), withinMs)),
  )
  return Promise.race([underWay, late]).finally(() => clearTimeout(timer))
}

/** Whether a start failed only because the database does not answer. */
export function isAway(error: unknown): boolean {
  // While running these may pass; a start with a wrong user, password or database name is a mistake that somebody has to hear of.
  if (/^(28|3D000$|42501$)/.test(databaseErrorCode(error) ?? '')) return false
  return isDatabaseAway(error) || (error instanceof Refusal && error.code === 'UNAVAILABLE')
}
