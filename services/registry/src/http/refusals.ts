import type { ErrorCode } from '@repertoire/contract'

/** How often each code was answered. Whoever is turned away at the door makes no row, and is counted all the same. */
export type Refusals = { readonly note: (code: ErrorCode) => void; readonly counts: () => ReadonlyMap<string, number> }

/** Counters at nought. */
export function createRefusals(): Refusals {
  const counts = new Map<string, number>()
  return { note: (code) => void counts.set(code, (counts.get(code) ?? 0) + 1), counts: () => counts }
}
