import type { Index, QuotaRecord } from './records.ts'

/** What a limit is counted over. */
export type QuotaSpan = 'minute' | 'day'

const spanMs: Readonly<Record<QuotaSpan, number>> = { minute: 60_000, day: 86_400_000 }

/** What a quota, or a call, is about; a quota leaves out what it does not look at. */
export type QuotaTarget = { readonly agentId: string | null; readonly skillKey: string | null; readonly connection: string | null }

/** The key of a target; there is one quota for each. */
export function targetKey({ agentId, skillKey, connection }: QuotaTarget): string {
  return [agentId, skillKey, connection].map((part) => part ?? '').join('\n')
}

/** The quotas a call counts against: of its agent and skill, its agent, its skill, and its connection. */
export function quotasOn(quotas: Index<QuotaRecord>, { agentId, skillKey, connection }: QuotaTarget): readonly QuotaRecord[] {
  if (quotas.size === 0) return []
  const nobody = { agentId: null, skillKey: null, connection: null }
  const targets = [
    { ...nobody, agentId, skillKey },
    { ...nobody, agentId },
    { ...nobody, skillKey },
    ...(connection === null ? [] : [{ ...nobody, connection }]),
  ]
  return targets.flatMap((target) => quotas.get(targetKey(target)) ?? [])
}

/** The minute or the day, of UTC, that a moment lies in; milliseconds since 1970. */
export function windowAt(span: QuotaSpan, nowMs: number): { readonly start: number; readonly end: number } {
  const start = nowMs - (nowMs % spanMs[span])
  return { start, end: start + spanMs[span] }
}

/** What a replica knows of one limit: its own calls in this window, how many of them are new since it last asked, and up to how many it may come. */
export type QuotaShare = {
  readonly limit: number
  readonly replicas: number
  readonly spent: number
  readonly recent: number
  readonly allowance: number
}

/** Up to how many calls a replica may come before it was heard in this window: a share of a share, so that all of these together are less than one. */
export function firstAllowance(limit: number, replicas: number): number {
  return Math.min(limit, Math.max(1, Math.floor(limit / replicas ** 2)))
}

/** Up to how many calls a replica may come while nobody can be asked: its own part, so that all together keep the limit. */
export function loneAllowance(limit: number, replicas: number): number {
  return Math.max(1, Math.floor(limit / replicas))
}

/** What a replica keeps of its allowance while it asks for the next one; who used little of it gives half of the rest back. */
export function heldAllowance(share: QuotaShare, left: number): number {
  const unused = Math.max(0, share.allowance - share.spent)
  return share.spent + Math.min(unused, Math.max(wanted(share, left), Math.ceil(unused / 2)))
}

/**
 * The next allowance, when others may come up to `taken` together: its part of what is left, and no more than it is likely to
 * need before it asks again. Given one after the other, allowances never add up to more than the limit.
 */
export function nextAllowance(share: QuotaShare, taken: number): number {
  const left = Math.max(0, share.limit - share.spent - taken)
  const part = Math.min(left, Math.ceil(left / share.replicas), wanted(share, left))
  return Math.max(heldAllowance(share, left), share.spent + part)
}

// Bursts grow; and whoever rests keeps a share of a share, for the next call to find.
function wanted({ recent, replicas }: QuotaShare, left: number): number {
  return Math.max(4 * recent, Math.ceil(left / replicas ** 2))
}
