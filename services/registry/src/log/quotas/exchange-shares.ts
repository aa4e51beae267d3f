import type { QuotaSpan } from '@repertoire/core'
import type postgres from 'postgres'

/** One limit in one window, by the names that Postgres has for it. */
export type Counter = { readonly quotaId: string; readonly span: QuotaSpan; readonly start: number }

/** What a process says of itself about one limit: its calls, and up to how many it may come. */
export type Said = Counter & { readonly spent: number; readonly reserved: number }

/** What all the others say of one limit, together. */
export type Others = { readonly spent: number; readonly reserved: number }

const shareLock = 0x51554f54
// Three heartbeats: whoever is silent for longer has no part of what is left.
const aliveSeconds = 7

/** The key of a counter. */
export function counterKey({ quotaId, span, start }: Counter): string {
  return `${quotaId} ${span} ${start}`
}

/**
 * One process at a time hears what the others say of some limits, decides by that what it says itself, and says it: so what
 * all of them may spend never adds up to more than there is.
 */
export async function exchangeShares(
  sql: postgres.Sql,
  instance: string,
  { counters, decide }: { readonly counters: readonly Counter[]; readonly decide: (heard: Heard) => readonly Said[] },
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${shareLock})`
    const replicas = await countReplicas(tx, instance)
    const said = decide({ replicas, others: await readOthers(tx, instance, counters) })
    if (said.length > 0) await write(tx, instance, said)
  })
}

/** How many processes share the limits, and what the others say of each. */
export type Heard = { readonly replicas: number; readonly others: ReadonlyMap<string, Others> }

async function countReplicas(tx: postgres.TransactionSql, instance: string): Promise<number> {
  const [others] = await tx<{ n: number }[]>`
    select count(*)::int as n from replicas
    where left_at is null and last_seen_at > now() - make_interval(secs => ${aliveSeconds}) and instance <> ${instance}::uuid`
  return 1 + (others?.n ?? 0)
}

async function readOthers(tx: postgres.TransactionSql, instance: string, counters: readonly Counter[]): Promise<Map<string, Others>> {
  if (counters.length === 0) return new Map()
  const rows = await tx.unsafe<(Others & { quota_id: string; span: QuotaSpan; start: string })[]>(
    `select s.quota_id, s.span, s.window_start::text as start, sum(s.spent)::float8 as spent, sum(s.reserved)::float8 as reserved
     from unnest($1::bigint[], $2::text[], $3::uuid[]) as wanted (start, span, id)
     join quota_shares s on s.window_start = wanted.start and s.span = wanted.span and s.quota_id = wanted.id
     where s.instance <> $4::uuid group by 1, 2, 3`,
    [...columnsOf(counters), instance] as never[],
    { prepare: true },
  )
  return new Map(
    rows.map(({ quota_id: quotaId, span, start, spent, reserved }) => [
      counterKey({ quotaId, span, start: Number(start) }),
      { spent, reserved },
    ]),
  )
}

async function write(tx: postgres.TransactionSql, instance: string, said: readonly Said[]): Promise<void> {
  await tx.unsafe(
    `insert into quota_shares (window_start, span, quota_id, spent, reserved, instance)
     select start, span, id, spent, reserved, $6::uuid
     from unnest($1::bigint[], $2::text[], $3::uuid[], $4::int[], $5::int[]) as said (start, span, id, spent, reserved)
     on conflict (window_start, span, quota_id, instance) do update set spent = excluded.spent, reserved = excluded.reserved`,
    [...columnsOf(said), said.map(({ spent }) => spent), said.map(({ reserved }) => reserved), instance] as never[],
    { prepare: true },
  )
}

function columnsOf(counters: readonly Counter[]): unknown[] {
  return [counters.map(({ start }) => start), counters.map(({ span }) => span), counters.map(({ quotaId }) => quotaId)]
}

/** What all processes together have spent in these windows, of every limit that was spent of. */
export async function readSpending(
  sql: postgres.Sql,
  { instance, minute, day }: { readonly instance: string; readonly minute: number; readonly day: number },
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ quota_id: string; span: QuotaSpan; start: string; spent: number }[]>`
    select quota_id, span, window_start::text as start, sum(spent)::float8 as spent from quota_shares
    where ((window_start = ${minute} and span = 'minute') or (window_start = ${day} and span = 'day')) and instance <> ${instance}::uuid
    group by 1, 2, 3`
  return new Map(rows.map(({ quota_id: quotaId, span, start, spent }) => [counterKey({ quotaId, span, start: Number(start) }), spent]))
}
