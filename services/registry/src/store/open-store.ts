import { and, eq } from 'drizzle-orm'
import type { Store } from '../ports.ts'
import { listAgents } from './agents.ts'
import type { Database, Drizzle } from './connect.ts'
import { listGrants } from './grants.ts'
import { listAudit, verifyAudit } from './audit-reading.ts'
import { declaredAt, eventsOf, grantsAt, requirementsOf } from './history.ts'
import type { KeptHead } from './kept-head.ts'
import { listKeys } from './keys.ts'
import { createLines } from './lines.ts'
import { listQuotas } from './quotas.ts'
import { findRollout, listRollouts, saltOf } from './rollouts.ts'
import type { SnapshotFeed } from './snapshot-feed.ts'
import { blobs, versionFiles } from './tables/catalogue.ts'
import { runTransaction } from './transaction.ts'

/** What a store works with. */
export type StoreTools = { readonly feed: SnapshotFeed; readonly secret: Uint8Array; readonly head: KeptHead }

const wholeMs = 1900
const usualLineMs = 1000
const leastMs = 200

// Whoever changed something reads its change here, as long as that takes no longer than anybody may be kept waiting.
async function readBack(feed: SnapshotFeed, revision: number, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, Math.max(leastMs, withinMs))))
  const read = feed.reach(revision).catch(() => undefined)
  await Promise.race([read, late]).finally(() => clearTimeout(timer))
}

/** The store over one database; every piece of work passes a gate. */
export function openStore(database: Database, { feed, secret, head }: StoreTools): Store {
  const { general, urgent } = database
  const inLine = createLines()
  const ask = <T>(work: (db: Drizzle) => Promise<T>): Promise<T> => general.gate.run(() => work(general.db))
  return {
    transaction: async (work, { isUrgent = false, line, lineMs = usualLineMs, deadlineMs } = {}) => {
      const pool = isUrgent ? urgent : general
      const installId = feed.isConfirmed() ? feed.current().installId : undefined
      const began = performance.now()
      const committed = await inLine(line, lineMs, () =>
        pool.gate.run((ticket) => runTransaction(pool.db, { secret, head, installId, ticket }, work), deadlineMs),
      )
      for (const appended of committed.heads) head.note(appended)
      // It is committed: that this replica cannot read it back right now makes nothing undone.
      if (committed.revision !== undefined) await readBack(feed, committed.revision, wholeMs - (performance.now() - began))
      return committed.result
    },
    file: (versionId, path) =>
      ask(async (db) => {
        const rows = await db
          .select({ content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(and(eq(versionFiles.versionId, versionId), eq(versionFiles.path, path)))
        return rows[0]?.content
      }),
    filesOf: (versionId) =>
      ask(async (db) => {
        const rows = await db
          .select({ path: versionFiles.path, content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(eq(versionFiles.versionId, versionId))
        return new Map(rows.map((row) => [row.path, row.content]))
      }),
    listAgents: (page) => ask((db) => listAgents(db, page)),
    listKeys: (agentId) => ask((db) => listKeys(db, agentId)),
    listGrants: (agentId) => ask((db) => listGrants(db, agentId)),
    listQuotas: (page) => ask((db) => listQuotas(db, page)),
    // Whoever rolls back asks for the rollout first, and must get through as well.
    rollout: (id, { isUrgent = false } = {}) => {
      const pool = isUrgent ? urgent : general
      return pool.gate.run(() => findRollout(pool.db, id))
    },
    saltOf: (skillId, version) => ask((db) => saltOf(db, skillId, version)),
    listRollouts: (query) => ask((db) => listRollouts(db, query)),
    requirementsOf: (skillKey, since) => ask((db) => requirementsOf(db, skillKey, since)),
    eventsOf: (skill, upTo) => ask((db) => eventsOf(db, skill, upTo)),
    listAudit: (query) => ask((db) => listAudit(db, query)),
    verifyAudit: async () => {
      const kept = await head.read()
      return verifyAudit(ask, secret, kept)
    },
    grantsAt: (agentId, at) => ask((db) => grantsAt(db, agentId, at)),
    declaredAt: (agentId, at) => ask((db) => declaredAt(db, agentId, at)),
  }
}
