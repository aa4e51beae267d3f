import { windowAt, type QuotaRecord, type QuotaSpan } from '@repertoire/core'
import type { Logger } from 'pino'
import type { Quotas } from '../../ports.ts'
import type { Pool } from '../../store/connect.ts'
import { counterKey, exchangeShares, readSpending } from './exchange-shares.ts'
import { askFor, freeCalls, isDue, limitsOf, newShare, type Share } from './shares.ts'

/** The limits on calls as this process keeps them; `exchange` tells the others now what it has spent, and hears what is left. */
export type OpenQuotas = Quotas & { readonly exchange: () => Promise<void>; readonly stop: () => Promise<void> }

/** What keeping them takes. */
export type QuotasOptions = {
  readonly log: Pool
  readonly instance: string
  readonly now: () => number
  readonly hasQuotas: () => boolean
  readonly logger: Logger
}

const everyMs = 5000
/** What is used up soon is asked for sooner, but not at every call. */
const soonMs = 20
const leastPauseMs = 100
/** After so long without an answer each replica keeps to its own part. */
const awayMs = 12_000
const mostAtOnce = 2000
const stopMs = 1000
/** Until it was heard how many replicas there are, a few are assumed. */
const assumedReplicas = 3

/** Keeps the limits on calls: counted here, shared with the other replicas every five seconds and when a share is half spent. */
export function openQuotas({ log, instance, now, hasQuotas, logger }: QuotasOptions): OpenQuotas {
  const shares = new Map<string, Share>()
  let spending: ReadonlyMap<string, number> = new Map()
  let replicas = assumedReplicas
  let heardAt = performance.now()
  let askedAt = Number.NEGATIVE_INFINITY
  let refused = 0
  let asking: Promise<void> | undefined
  let soon: NodeJS.Timeout | undefined
  let isStopped = false

  // What has a new window begins anew; of a window that is over nothing is kept.
  const shareOf = (quotaId: string, limit: ReturnType<typeof limitsOf>[number], nowMs: number): Share => {
    const key = `${quotaId} ${limit.span}`
    const known = shares.get(key)
    if (known !== undefined && nowMs >= known.start && nowMs < known.end) return known
    const fresh = newShare(quotaId, limit, nowMs)
    shares.set(key, fresh)
    return fresh
  }
  const ask = async (): Promise<void> => {
    askedAt = performance.now()
    const nowMs = now()
    for (const [key, share] of shares) if (nowMs >= share.end) shares.delete(key)
    const due = [...shares.values()].filter(isDue).slice(0, mostAtOnce)
    const asked = due.map((share) => askFor(share, replicas))
    let heard = replicas
    await log.gate.run(() =>
      exchangeShares(log.sql, instance, {
        counters: due,
        decide: (said) => {
          heard = said.replicas
          return asked.map(({ decide }) => decide(said))
        },
      }),
    )
    for (const { apply } of asked) apply()
    replicas = heard
    heardAt = performance.now()
  }
  const exchange = (): Promise<void> => {
    asking ??= ask().finally(() => (asking = undefined))
    return asking
  }
  const quietly = (): Promise<void> =>
    exchange().catch((error: unknown) => logger.debug({ err: error }, 'the shares of quotas could not be exchanged'))
  const wake = (): void => {
    if (soon !== undefined || isStopped) return
    soon = setTimeout(
      () => {
        soon = undefined
        void quietly()
      },
      Math.max(soonMs, askedAt + leastPauseMs - performance.now()),
    )
    soon.unref()
  }
  const round = async (): Promise<void> => {
    if (!hasQuotas()) return
    await quietly()
    const windows = { instance, minute: windowAt('minute', now()).start, day: windowAt('day', now()).start }
    spending = await log.gate.run(() => readSpending(log.sql, windows)).catch(() => spending)
  }
  const timer = setInterval(() => void round(), everyMs)
  timer.unref()
  const standing = (): { readonly replicas: number; readonly isAway: boolean } => ({
    replicas,
    isAway: performance.now() - heardAt > awayMs,
  })
  return {
    exchange,
    refused: () => refused,
    spend: (quotas, nowMs) => {
      const counted: Share[] = []
      const known = standing()
      for (const quota of quotas)
        for (const limit of limitsOf(quota)) {
          const share = shareOf(quota.id, limit, nowMs)
          if (freeCalls(share, known) > 0) {
            counted.push(share)
            continue
          }
          refused += 1
          share.wasRefused = true
          if (share.left > 0 || !share.hasAsked) wake()
          return { kind: 'exceeded', quota, ...limit, retryAfterMs: retryAfter(share, nowMs) }
        }
      for (const share of counted) {
        share.spent += 1
        share.quietRounds = 0
        if (!share.hasAsked || freeCalls(share, known) * 2 <= share.allowance - share.told) wake()
      }
      return { kind: 'spent', takeBack: () => counted.forEach((share) => (share.spent -= 1)) }
    },
    used: (quota: QuotaRecord, span: QuotaSpan, nowMs) => {
      const { start } = windowAt(span, nowMs)
      const share = shares.get(`${quota.id} ${span}`)
      const own = share?.start === start ? share : undefined
      return (own?.spent ?? 0) + Math.max(own?.spentByOthers ?? 0, spending.get(counterKey({ quotaId: quota.id, span, start })) ?? 0)
    },
    stop: async () => {
      isStopped = true
      clearInterval(timer)
      clearTimeout(soon)
      await asking?.catch(() => undefined)
      // What this replica does not spend any more is there for the others at once.
      const left = [...shares.values()].filter((share) => share.hasAsked || share.spent > 0).slice(0, mostAtOnce)
      if (left.length === 0) return
      const said = left.map(({ quotaId, span, start, spent }) => ({ quotaId, span, start, spent, reserved: spent }))
      await log.gate.run(() => exchangeShares(log.sql, instance, { counters: [], decide: () => said }), stopMs).catch(() => undefined)
    },
  }
}

// Where others have shares that they may not need, a moment later there may be more; else the next window brings it.
function retryAfter({ limit, spent, spentByOthers, end }: Share, nowMs: number): number {
  return spent + spentByOthers >= limit ? end - nowMs : Math.min(1000, end - nowMs)
}
