import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../store/connect.ts'

/** A call and the skill it has, or may have, a place of. */
export type PlaceOfCall = { readonly skillKey: string; readonly callId: string }

/** Gives a place back, and answers after the first try; sure is who has it, and not who only may. */
export type GiveBack = (place: PlaceOfCall, isSure: boolean) => Promise<void>

const askMs = 1500
/** A statement that was given up may still be carried out for as long as the server lets one run, and a little. */
const mayStillComeMs = 3000
/** Between two tries; together about as long as a place lives by itself. */
const pauses = [250, 500, 1000, 2000, 4000, 6000] as const
const mostAtOnce = 1000

/**
 * Gives places back that their calls have no more use for, until the database has said that they are free. A place that was
 * asked for and given up may be taken after that all the same: such a one is looked for once more when that cannot be.
 */
export function createGiveBack(pool: () => Pool): GiveBack {
  let running = 0
  const isFree = async ({ skillKey, callId }: PlaceOfCall, isSure: boolean, since: number): Promise<boolean> => {
    const askedAt = performance.now()
    try {
      const freed = await pool().gate.run(
        () => pool().sql`delete from call_leases where skill_key = ${skillKey} and call_id = ${callId}::uuid returning slot`,
        askMs,
      )
      return isSure || freed.length > 0 || askedAt - since > mayStillComeMs
    } catch {
      return false
    }
  }
  const goOn = async (place: PlaceOfCall, isSure: boolean, since: number): Promise<void> => {
    // More than that wait for a database that is away, where places end by themselves.
    if (running >= mostAtOnce) return
    running += 1
    for (const pauseMs of pauses) {
      await pause(pauseMs, undefined, { ref: false })
      if (await isFree(place, isSure, since)) break
    }
    running -= 1
  }
  return async (place, isSure) => {
    const since = performance.now()
    if (!(await isFree(place, isSure, since))) void goOn(place, isSure, since)
  }
}
