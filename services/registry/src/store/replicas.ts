import { and, gt, isNull, sql } from 'drizzle-orm'
import type { Propagation } from '../stored.ts'
import type { Drizzle } from './connect.ts'
import { replicas } from './tables/installation.ts'

// Three heartbeats missed: a replica that lives may be paused by its machine, but it does not obey.
const silentAfterMs = 7000
const goneAfterMs = 5 * 60_000

/** Says that this replica lives and what it has applied. The database's own clock is everybody's. */
export async function beat(db: Drizzle, name: string, revision: number): Promise<void> {
  await db
    .insert(replicas)
    .values({ name, startedAt: sql`now()`, lastSeenAt: sql`now()`, appliedRevision: revision })
    .onConflictDoUpdate({ target: replicas.name, set: { lastSeenAt: sql`now()`, appliedRevision: revision, leftAt: null } })
}

/** Says that this replica is going. */
export async function signOff(db: Drizzle, name: string): Promise<void> {
  await db
    .update(replicas)
    .set({ leftAt: sql`now()` })
    .where(sql`${replicas.name} = ${name}`)
}

/** Which replicas have applied a revision, which are alive and have not, and which were not heard of lately. */
export async function obeying(db: Drizzle, revision: number): Promise<Propagation> {
  const rows = await db
    .select({
      name: replicas.name,
      applied: sql<boolean>`${replicas.appliedRevision} >= ${revision}`,
      silentMs: sql<number>`extract(epoch from now() - ${replicas.lastSeenAt})::float8 * 1000`,
    })
    .from(replicas)
    .where(and(isNull(replicas.leftAt), gt(replicas.lastSeenAt, sql`now() - make_interval(secs => ${goneAfterMs / 1000})`)))
    .orderBy(replicas.name)
  const of = (wanted: keyof Propagation): string[] => rows.filter((row) => standing(row) === wanted).map((row) => row.name)
  return { applied: of('applied'), lagging: of('lagging'), unreachable: of('unreachable') }
}

function standing({ applied, silentMs }: { readonly applied: boolean; readonly silentMs: number }): keyof Propagation {
  if (applied) return 'applied'
  return silentMs > silentAfterMs ? 'unreachable' : 'lagging'
}
