import type { Window } from '@repertoire/core'

const dayMs = 86_400_000

/** A window of whole days of UTC, for what is counted by day alone. */
export function wholeDays({ from, to }: Window): Window {
  return { from: new Date(Math.floor(from.getTime() / dayMs) * dayMs), to: new Date(Math.ceil(to.getTime() / dayMs) * dayMs) }
}
