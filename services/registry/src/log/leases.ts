import { Refusal } from '@repertoire/core'
import { setTimeout as pause } from 'node:timers/promises'
import type { Lease, Leases } from '../ports.ts'
import { createSlots, type Slots } from '../slots.ts'
import type { Pool } from '../store/connect.ts'
import { createGiveBack, type GiveBack, type PlaceOfCall } from './give-back.ts'

const liveSeconds = 15
const renewMs = 5000
/** Without a renewal for two thirds of its life, a place is given up before somebody else may have it. */
const giveUpMs = 10_000
const askMs = 1500
const leastAskMs = 50
const pollMs = 50
const mostWaiting = 500

type Wanted = Parameters<Leases['acquire']>[0]

/** Places of skills with a limit on calls at once, as rows that live for fifteen seconds and are renewed every five. */
export function openLeases(pool: () => Pool): Leases {
  const lines = new Map<string, Slots>()
  const giveBack = createGiveBack(pool)
  const ask = <T>(work: () => Promise<T>, withinMs = askMs): Promise<T> => pool().gate.run(work, withinMs)

  // Of those who wait here for one skill, one asks at a time, in the order they came; nobody waits for a turn past its own time.
  const inLine = async <T>({ skillKey, waitMs, signal }: Wanted, work: () => Promise<T>): Promise<T | undefined> => {
    const line = lines.get(skillKey) ?? createSlots({ limits: [1], queue: mostWaiting })
    if (line.waiting() >= mostWaiting)
      throw new Refusal('BUSY', 'Too many calls wait for a place of this skill.', { headers: { 'Retry-After': '1' } })
    lines.set(skillKey, line)
    const leave = await line.take(waitMs, 0, signal)
    try {
      return leave === undefined ? undefined : await work()
    } finally {
      leave?.()
      if (line.inUse() === 0 && line.waiting() === 0) lines.delete(skillKey)
    }
  }
  // A call that waits for its own parent would wait for ever, wherever it stands in line.
  const isHeldByParent = async ({ skillKey, parentCallId }: Wanted): Promise<boolean> => {
    if (parentCallId === null || !lines.has(skillKey)) return false
    const { sql } = pool()
    const held = await ask(
      () => sql`select 1 from call_leases where skill_key = ${skillKey} and call_id::text = ${parentCallId} and expires_at > now()`,
    )
    return held.length > 0
  }
  const take = async (
    { skillKey, slots, callId, parentCallId }: Wanted,
    withinMs: number,
  ): Promise<number | 'held by parent' | undefined> => {
    const question = async (): Promise<number | 'held by parent' | undefined> => {
      const { sql } = pool()
      const [row] = await sql<{ slot: number | null; by_parent: boolean }[]>`
        with taken as (
          insert into call_leases as held (skill_key, slot, call_id, expires_at)
          select ${skillKey}, slot, ${callId}::uuid, now() + make_interval(secs => ${liveSeconds}) from generate_series(0, ${slots - 1}::int) as slot
          where not exists (select 1 from call_leases l where l.skill_key = ${skillKey} and l.slot = slot.slot and l.expires_at > now())
          order by slot limit 1
          on conflict (skill_key, slot) do update set call_id = excluded.call_id, expires_at = excluded.expires_at where held.expires_at <= now()
          returning slot
        )
        select (select slot from taken) as slot,
          exists (select 1 from call_leases where skill_key = ${skillKey} and call_id::text = ${parentCallId ?? ''} and expires_at > now()) as by_parent`
      return row?.slot ?? (row?.by_parent === true ? 'held by parent' : undefined)
    }
    let endedAt = Number.POSITIVE_INFINITY
    const asked = ask(() => question().finally(() => (endedAt = performance.now())), withinMs)
    // Whoever was not told may have a place all the same, and would hold it for nobody while everybody waits.
    asked.catch((error: unknown) => {
      const hasBegun = !(error instanceof Refusal && error.code === 'BUSY')
      if (hasBegun) void giveBack({ skillKey, callId }, () => endedAt)
    })
    return asked
  }

  return {
    acquire: async (wanted) => {
      const until = performance.now() + wanted.waitMs
      if (await isHeldByParent(wanted)) return undefined
      return inLine(wanted, async () => {
        for (let isFirst = true; ; isFirst = false) {
          if (wanted.signal?.aborted === true) return undefined
          const leftMs = until - performance.now()
          // Asked so late, a question would be given up before it can be answered.
          if (leftMs <= (isFirst ? 0 : leastAskMs)) return undefined
          const slot = await take(wanted, Math.max(leastAskMs, Math.min(askMs, leftMs)))
          if (slot === 'held by parent') return undefined
          if (slot !== undefined) return keep(pool, { skillKey: wanted.skillKey, slot, callId: wanted.callId }, giveBack)
          await pause(Math.max(1, Math.min(until - performance.now(), pollMs * (0.5 + Math.random()))))
        }
      })
    },
  }
}

type Held = PlaceOfCall & { readonly slot: number }

function keep(pool: () => Pool, { skillKey, slot, callId }: Held, giveBack: GiveBack): Lease {
  const lost = new AbortController()
  let renewedAt = performance.now()
  const renew = async (): Promise<void> => {
    const askedAt = performance.now()
    const renewed = await pool().gate.run(
      () => pool().sql`update call_leases set expires_at = now() + make_interval(secs => ${liveSeconds})
        where skill_key = ${skillKey} and slot = ${slot} and call_id = ${callId}::uuid returning slot`,
      askMs,
    )
    if (renewed.length === 0) lost.abort()
    renewedAt = askedAt
  }
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs)
  const watch = setInterval(() => {
    if (performance.now() - renewedAt > giveUpMs) lost.abort()
  }, 500)
  return {
    lost: lost.signal,
    release: async () => {
      clearInterval(timer)
      clearInterval(watch)
      await giveBack({ skillKey, callId })
    },
  }
}
