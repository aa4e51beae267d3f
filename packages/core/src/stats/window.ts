import { Refusal } from '../refusal.ts'

/** A window of the log. */
export type Window = { readonly from: Date; readonly to: Date }

const dayMs = 24 * 60 * 60 * 1000
const mostDays = 90

/** The window that was asked for: the last 24 hours unless told, at most 90 days. */
export function readWindow(asked: { readonly from?: string | undefined; readonly to?: string | undefined }, nowMs: number): Window {
  const to = asked.to === undefined ? new Date(nowMs + 1000) : new Date(asked.to)
  const from = asked.from === undefined ? new Date(to.getTime() - dayMs) : new Date(asked.from)
  // Widened to whole days, the last moment of 9999 would have a year of five digits, which Postgres does not read.
  if (from.getUTCFullYear() < 1970 || to.getUTCFullYear() > 9998) throw refuseWindow('from and to lie between the years 1970 and 9998.')
  if (from >= to) throw refuseWindow('from has to lie before to.')
  if (to.getTime() - from.getTime() > mostDays * dayMs) throw refuseWindow(`A window is at most ${mostDays} days long.`)
  return { from, to }
}

/** The refusal of a window, or of what it is too long for. */
export function refuseWindow(message: string, hint = 'give from and to as RFC 3339 times'): Refusal {
  return new Refusal('INVALID_REQUEST', message, { hint, details: [{ path: '/from', rule: 'window' }] })
}
