import { z } from 'zod'

const firstMs = 0
const lastMs = Date.UTC(10_000, 0) - 1
const isKept = (text: string): boolean => {
  const ms = Date.parse(text)
  return ms >= firstMs && ms <= lastMs
}
const range = 'a time is from 1970 to the end of 9999, in UTC'

/**
 * A moment as RFC 3339, from 1970 to the end of 9999 in UTC, after its offset: what is outside has another number of digits,
 * or a sign, and comes back from a database as something else.
 */
export const Instant = z.iso.datetime({ offset: true, error: 'write a time such as 2026-12-31T18:00:00Z' }).refine(isKept, range)

/** A day such as 2026-12-31, from 1970 to the end of 9999, which stands for its first moment in UTC. */
export const Day = z.iso.date('write a day such as 2026-12-31').refine(isKept, range)
