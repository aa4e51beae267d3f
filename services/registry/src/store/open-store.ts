import { and, eq } from 'drizzle-orm'
import type { Store } from '../ports.ts'
import { listAgents } from './agents.ts'
import type { Database } from './connect.ts'
import type { Gate } from './gate.ts'
import { listGrants } from './grants.ts'
import type { AuditHead } from './audit.ts'
import { listAudit, verifyAudit } from './audit-reading.ts'
import { declaredAt, eventsOf, grantsAt, requirementsOf } from './history.ts'
import { listKeys } from './keys.ts'
import { findRollout, listRollouts, saltOf } from './rollouts.ts'
import type { SnapshotFeed } from './snapshot-feed.ts'
import { blobs, versionFiles } from './tables/catalogue.ts'
import { runTransaction } from './transaction.ts'

const verifyDeadlineMs = 60_000

/** The two ways to the database: the one everything takes, and the one that stepping back has for itself. */
export type Gates = { readonly general: Gate; readonly urgent: Gate }

/** Where the end of the audit chain is kept beside the database. */
export type KeptHead = { readonly note: (head: AuditHead) => void; readonly read: () => Promise<AuditHead | undefined> }

/** What a store works with. */
export type StoreTools = { readonly feed: SnapshotFeed; readonly gates: Gates; readonly secret: Uint8Array; readonly head: KeptHead }

/** The store over one database; every piece of work passes a gate. */
export function openStore({ db, reserved }: Database, { feed, gates: { general, urgent }, secret, head }: StoreTools): Store {
  return {
    transaction: async (work, { isUrgent = false } = {}) => {
      const committed = isUrgent
        ? await urgent.run(() => runTransaction(reserved, secret, work))
        : await general.run(() => runTransaction(db, secret, work))
      const { result, revision } = committed
      if (committed.head !== undefined) head.note(committed.head)
      if (revision !== undefined) await feed.reach(revision)
      return result
    },
    file: (versionId, path) =>
      general.run(async () => {
        const rows = await db
          .select({ content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(and(eq(versionFiles.versionId, versionId), eq(versionFiles.path, path)))
        return rows[0]?.content
      }),
    filesOf: (versionId) =>
      general.run(async () => {
        const rows = await db
          .select({ path: versionFiles.path, content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(eq(versionFiles.versionId, versionId))
        return new Map(rows.map((row) => [row.path, row.content]))
      }),
    listAgents: (page) => general.run(() => listAgents(db, page)),
    listKeys: (agentId) => general.run(() => listKeys(db, agentId)),
    listGrants: (agentId) => general.run(() => listGrants(db, agentId)),
    // Whoever rolls back asks for the rollout first, and must get through as well.
    rollout: (id) => urgent.run(() => findRollout(reserved, id)),
    saltOf: (skillId, version) => general.run(() => saltOf(db, skillId, version)),
    listRollouts: (query) => general.run(() => listRollouts(db, query)),
    requirementsOf: (skillKey, since) => general.run(() => requirementsOf(db, skillKey, since)),
    eventsOf: (skill, upTo) => general.run(() => eventsOf(db, skill, upTo)),
    listAudit: (query) => general.run(() => listAudit(db, query)),
    verifyAudit: async () => {
      const kept = await head.read()
      return general.run(() => verifyAudit(db, secret, kept), verifyDeadlineMs)
    },
    grantsAt: (agentId, at) => general.run(() => grantsAt(db, agentId, at)),
    declaredAt: (agentId, at) => general.run(() => declaredAt(db, agentId, at)),
  }
}
