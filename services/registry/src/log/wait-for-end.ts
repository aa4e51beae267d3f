import type { CallRow } from '@repertoire/contract'
import { setTimeout as pause } from 'node:timers/promises'

const everyMs = 200
const mostWaiting = 200
let waiting = 0

/** Looks at a call until it has ended or the time is over. Beyond two hundred who wait, the next hear at once how things stand. */
export async function waitForEnd(look: () => Promise<CallRow | undefined>, waitMs: number): Promise<CallRow | undefined> {
  const until = performance.now() + waitMs
  let row = await look()
  if (row?.state !== 'running' || waiting >= mostWaiting) return row
  waiting += 1
  try {
    while (row?.state === 'running' && performance.now() < until) {
      await pause(Math.max(1, Math.min(everyMs, until - performance.now())))
      row = await look()
    }
    return row
  } finally {
    waiting -= 1
  }
}
