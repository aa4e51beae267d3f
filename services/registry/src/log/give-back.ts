import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../store/connect.ts'

/** A call and the skill it has, or may have, a place of. */
export type PlaceOfCall = { readonly skillKey: string; readonly callId: string }

/**
 * Gives a place back, and answers after the first try. Who only may have it says when the question for it ended, by
 * `performance.now`, and Infinity until then.
 */
export type GiveBack = (place: PlaceOfCall, endedAt?: () => number) => Promise<void>

const askMs = 1500
/** A statement whose line broke may still be carried out for as long as the server lets one run, and a little. */
const mayStillComeMs = 3000
/** Between two tries; together about as long as a place lives by itself. */
const pauses = [250, 500, 1000, 2000, 4000, 6000] as const
const mostAtOnce = 1000

/**
 * Gives places back that their calls have no more use for, until the database has said that they are free. A place that was
 * asked for and given up may be taken after that all the same, however long the question was on its way: such a one is looked
 * for once more when that cannot be.
 */
export function createGiveBack(pool: () => Pool): GiveBack {
  let running = 0
  const isFree = async ({ skillKey, callId }: PlaceOfCall, endedAt: () => number): Promise<boolean> => {
    const askedAt = performance.now()
    try {
      const freed = await pool().gate.run(
        () => pool().sql`delete from call_leases where skill_key = ${skillKey} and call_id = ${callId}::uuid returning slot`,
        askMs,
      )
      return freed.length > 0 || askedAt - endedAt() > mayStillComeMs
    } catch {
      return false
    }
  }
  const goOn = async (place: PlaceOfCall, endedAt: () => number): Promise<void> => {
    // More than that wait for a database that is away, where places end by themselves.
    if (running >= mostAtOnce) return
    running += 1
    for (const pauseMs of pauses) {
      await pause(pauseMs, undefined, { ref: false })
      if (await isFree(place, endedAt)) break
    }
    running -= 1
  }
  return async (place, endedAt = longAgo) => {
    if (!(await isFree(place, endedAt))) void goOn(place, endedAt)
  }
}

function longAgo(): number {
  return Number.NEGATIVE_INFINITY
}
