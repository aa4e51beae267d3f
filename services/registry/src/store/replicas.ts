import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import type { Propagation } from '../stored.ts'
import type { Drizzle } from './connect.ts'
import { replicas } from './tables/installation.ts'

// Three heartbeats missed: a replica that lives may be paused by its machine, but it does not obey.
const silentAfterMs = 7000
const goneAfterMs = 5 * 60_000

/** A replica that has not left: what it has applied, and how long ago it said so. */
export type ReplicaRow = { readonly name: string; readonly appliedRevision: number; readonly silentMs: number }

/** Says that this replica lives and what it has applied. The database's own clock is everybody's. */
export async function beat(
  db: Drizzle,
  {
    instance,
    name,
    revision,
    logLagMs,
  }: { readonly instance: string; readonly name: string; readonly revision: number; readonly logLagMs: number },
): Promise<void> {
  await db
    .insert(replicas)
    .values({ instance, name, startedAt: sql`now()`, lastSeenAt: sql`now()`, appliedRevision: revision, logLagMs })
    .onConflictDoUpdate({ target: replicas.instance, set: { lastSeenAt: sql`now()`, appliedRevision: revision, logLagMs, leftAt: null } })
}

/** Says that this replica is going. */
export async function signOff(db: Drizzle, instance: string): Promise<void> {
  await db
    .update(replicas)
    .set({ leftAt: sql`now()` })
    .where(eq(replicas.instance, instance))
}

/** The replicas that were heard of in the last minutes and have not left. */
export function readReplicas(db: Drizzle): Promise<ReplicaRow[]> {
  return db
    .select({
      name: replicas.name,
      appliedRevision: replicas.appliedRevision,
      silentMs: sql<number>`extract(epoch from now() - ${replicas.lastSeenAt})::float8 * 1000`,
    })
    .from(replicas)
    .where(and(isNull(replicas.leftAt), gt(replicas.lastSeenAt, sql`now() - make_interval(secs => ${goneAfterMs / 1000})`)))
    .orderBy(replicas.name)
}

/** Which replicas have applied a revision, which are alive and have not, and which were not heard of lately. */
export function standingsAt(rows: readonly ReplicaRow[], revision: number): Propagation {
  const of = (wanted: keyof Propagation): string[] => rows.filter((row) => standing(row, revision) === wanted).map((row) => row.name)
  return { applied: of('applied'), lagging: of('lagging'), unreachable: of('unreachable') }
}

function standing({ appliedRevision, silentMs }: ReplicaRow, revision: number): keyof Propagation {
  if (appliedRevision >= revision) return 'applied'
  return silentMs > silentAfterMs ? 'unreachable' : 'lagging'
}
