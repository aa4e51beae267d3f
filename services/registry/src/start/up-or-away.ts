import type { Confirmed } from '../store/snapshot-feed.ts'
import { bringUp, bringUpSoon, isAway, keepBringingUp, type BringUp, type BroughtUp } from './bring-up.ts'
import { sayWhatWasSeeded } from './report-seed.ts'

/** How the start went: what to say of it, and how to stop looking for a database that is away. */
type Boot = { readonly madeKey: boolean; readonly skills: readonly string[]; readonly giveUp: () => void }

/** Brings the database up; without one, what the disk kept is served, and the rest of the start happens when it is back. */
export async function upOrAway(what: BringUp, saved: Confirmed | undefined): Promise<Boot> {
  const { config, logger } = what
  const isUp = (seeded: BroughtUp): Boot => ({
    madeKey: seeded.madeKey,
    skills: sayWhatWasSeeded(seeded.seeded, config.skillsDir),
    giveUp: () => undefined,
  })
  if (saved === undefined) return isUp(await bringUp(what))
  try {
    const outcome = await bringUpSoon(what, patienceMs)
    return 'underWay' in outcome ? serveSaved(what, saved, outcome.underWay) : isUp(outcome)
  } catch (error) {
    if (!isAway(error)) throw error
    logger.warn({ err: error, revision: saved.snapshot.revision }, 'the database is away: what was last known is served')
    return serveSaved(what, saved)
  }
}

// Whoever has something to serve waits no longer than this for a database that hangs.
const patienceMs = 8000

function serveSaved(what: BringUp, saved: Confirmed, underWay?: Promise<BroughtUp>): Boot {
  const since = new Date(saved.confirmedAt).toISOString()
  return {
    madeKey: false,
    skills: [
      `skills    ${what.feed.current().skills.size}, as known at ${since}: the database is away; changes are refused until it is back`,
    ],
    giveUp: keepBringingUp(what, underWay),
  }
}
