import { and, eq } from 'drizzle-orm'
import type { Store } from '../ports.ts'
import { listAgents } from './agents.ts'
import type { Database } from './connect.ts'
import type { Gate } from './gate.ts'
import { listGrants } from './grants.ts'
import { listKeys } from './keys.ts'
import type { SnapshotFeed } from './snapshot-feed.ts'
import { blobs, versionFiles } from './tables/catalogue.ts'
import { runTransaction } from './transaction.ts'

/** The store over one database; every piece of work passes the gate. */
export function openStore(database: Database, gate: Gate, feed: SnapshotFeed): Store {
  const { db } = database
  return {
    transaction: async (work) => {
      const { result, revision } = await gate.run(() => runTransaction(db, work))
      if (revision !== undefined) await feed.reach(revision)
      return result
    },
    file: (versionId, path) =>
      gate.run(async () => {
        const rows = await db
          .select({ content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(and(eq(versionFiles.versionId, versionId), eq(versionFiles.path, path)))
        return rows[0]?.content
      }),
    filesOf: (versionId) =>
      gate.run(async () => {
        const rows = await db
          .select({ path: versionFiles.path, content: blobs.content })
          .from(versionFiles)
          .innerJoin(blobs, eq(blobs.digest, versionFiles.digest))
          .where(eq(versionFiles.versionId, versionId))
        return new Map(rows.map((row) => [row.path, row.content]))
      }),
    listAgents: (page) => gate.run(() => listAgents(db, page)),
    listKeys: (agentId) => gate.run(() => listKeys(db, agentId)),
    listGrants: (agentId) => gate.run(() => listGrants(db, agentId)),
  }
}
