import {
  firstAllowance,
  heldAllowance,
  loneAllowance,
  nextAllowance,
  windowAt,
  type QuotaRecord,
  type QuotaShare,
  type QuotaSpan,
} from '@repertoire/core'
import { counterKey, type Counter, type Heard, type Others, type Said } from './exchange-shares.ts'

/** What this process knows of one limit in one window. */
export type Share = Counter & {
  readonly limit: number
  readonly end: number
  spent: number
  /** How many of these calls were told to the others. */
  told: number
  /** Up to how many calls it may come; until it has asked, that is in nobody's account. */
  allowance: number
  hasAsked: boolean
  wasRefused: boolean
  /** What was left of the limit when it last asked. */
  left: number
  spentByOthers: number
  /** How many rounds nothing happened. */
  quietRounds: number
}

/** The limits of a quota, each over its span. */
export function limitsOf({ perMinute, perDay }: QuotaRecord): readonly { readonly span: QuotaSpan; readonly limit: number }[] {
  return [
    ...(perMinute === null ? [] : [{ span: 'minute', limit: perMinute } as const]),
    ...(perDay === null ? [] : [{ span: 'day', limit: perDay } as const]),
  ]
}

/** A share as it is when a window begins. */
export function newShare(quotaId: string, { span, limit }: { readonly span: QuotaSpan; readonly limit: number }, nowMs: number): Share {
  const { start, end } = windowAt(span, nowMs)
  const nothing = { spent: 0, told: 0, allowance: 0, hasAsked: false, wasRefused: false, spentByOthers: 0, quietRounds: 0 }
  return { quotaId, span, start, end, limit, left: limit, ...nothing }
}

/** How many calls more are free to be counted here now. */
export function freeCalls(share: Share, { replicas, isAway }: { readonly replicas: number; readonly isAway: boolean }): number {
  const first = share.hasAsked ? 0 : firstAllowance(share.limit, replicas)
  const lone = isAway ? loneAllowance(share.limit, replicas) : 0
  return Math.max(share.allowance, first, lone) - share.spent
}

/** Whether there is something to say or to ask about a share: calls that were not told, or an allowance that rests. */
export function isDue({ spent, told, wasRefused, allowance, quietRounds }: Share): boolean {
  return spent !== told || wasRefused || (allowance - spent > 1 && (quietRounds < 6 || quietRounds % 12 === 0))
}

/** A question about a share that is on its way: what it is decided by, and what becomes of the share when it is answered. */
export type Asked = { readonly decide: (heard: Heard) => Said; readonly apply: () => void }

/** Begins to ask for the next allowance of a share; what it gives back is not spent from this moment on. */
export function askFor(share: Share, replicas: number): Asked {
  const { quotaId, span, start, limit, spent } = share
  const recent = Math.max(0, spent - share.told) + (share.wasRefused ? 1 : 0)
  const known = (count: number): QuotaShare => ({
    limit,
    replicas: count,
    spent,
    recent,
    allowance: share.hasAsked ? share.allowance : spent,
  })
  if (share.hasAsked) share.allowance = heldAllowance(known(replicas), share.left)
  let others: Others = { spent: 0, reserved: 0 }
  let reserved = spent
  return {
    decide: (heard) => {
      others = heard.others.get(counterKey(share)) ?? others
      reserved = nextAllowance(known(heard.replicas), others.reserved)
      return { quotaId, span, start, spent, reserved }
    },
    apply: () => {
      share.quietRounds = recent === 0 ? share.quietRounds + 1 : 0
      share.told = spent
      share.allowance = reserved
      share.hasAsked = true
      share.wasRefused = false
      share.left = Math.max(0, limit - spent - others.reserved)
      share.spentByOthers = others.spent
    },
  }
}
