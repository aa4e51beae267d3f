import { sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import { agentsIn } from './agents.ts'
import { auditIn, type AuditHead } from './audit.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { connectionsIn } from './connections.ts'
import { grantsIn } from './grants.ts'
import { keysIn } from './keys.ts'
import { lifecycleIn } from './lifecycle.ts'
import { requirementsIn } from './requirements.ts'
import { rolloutsIn } from './rollouts.ts'
import { skillsIn } from './skills.ts'
import { installation } from './tables/installation.ts'
import { versionsIn } from './versions.ts'

/** The channel on which a commit tells its revision to all replicas. */
export const revisionChannel = 'repertoire_revision'

/** What a transaction answered, and the revision it made; undefined when it changed nothing. */
export type Committed<T> = { readonly result: T; readonly revision: number | undefined; readonly head: AuditHead | undefined }

/** Runs a transaction. Its revision is taken from the one row when first asked for, so that order is commit order. */
export async function runTransaction<T>(db: Drizzle, secret: Uint8Array, work: (tx: Transaction) => Promise<T>): Promise<Committed<T>> {
  let head: AuditHead | undefined
  let revision: number | undefined
  const result = await db.transaction(async (tx) => {
    const takeRevision = async (): Promise<number> => {
      revision ??= await nextRevision(tx)
      return revision
    }
    return work({
      revision: takeRevision,
      skills: skillsIn(tx, takeRevision),
      versions: versionsIn(tx, takeRevision),
      lifecycle: lifecycleIn(tx, takeRevision),
      rollouts: rolloutsIn(tx),
      agents: agentsIn(tx, takeRevision),
      keys: keysIn(tx, takeRevision),
      grants: grantsIn(tx, takeRevision),
      requirements: requirementsIn(tx, takeRevision),
      connections: connectionsIn(tx, takeRevision),
      audit: auditIn(tx, { revision: takeRevision, secret, appended: (appended) => void (head = appended) }),
    })
  })
  return { result, revision, head }
}

async function nextRevision(tx: DrizzleTx): Promise<number> {
  const rows = await tx
    .update(installation)
    .set({ revision: sql`${installation.revision} + 1` })
    .returning({ revision: installation.revision })
  const revision = rows[0]?.revision
  if (revision === undefined) throw new Error('the installation row is missing')
  await tx.execute(sql`select pg_notify(${revisionChannel}, ${String(revision)})`)
  return revision
}
