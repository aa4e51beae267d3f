import { Refusal } from '@repertoire/core'
import { sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import { agentsIn } from './agents.ts'
import type { NewHead } from './audit-chain.ts'
import { auditIn } from './audit.ts'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { connectionsIn } from './connections.ts'
import type { Ticket } from './gate.ts'
import { grantsIn } from './grants.ts'
import { keysIn } from './keys.ts'
import type { KeptHead } from './kept-head.ts'
import { lifecycleIn } from './lifecycle.ts'
import { quotasIn } from './quotas.ts'
import { requirementsIn } from './requirements.ts'
import { rolloutsIn } from './rollouts.ts'
import { skillsIn } from './skills.ts'
import { installation } from './tables/installation.ts'
import { versionsIn } from './versions.ts'

/** The channel on which a commit tells its revision to all replicas. */
export const revisionChannel = 'repertoire_revision'

/** What a transaction answered, the revision it made, undefined when it changed nothing, and what it appended to the audit log. */
export type Committed<T> = { readonly result: T; readonly revision: number | undefined; readonly heads: readonly NewHead[] }

/** What a transaction works with. */
export type TransactionTools = {
  readonly secret: Uint8Array
  readonly head?: KeptHead | undefined
  /** The installation this replica belongs to; undefined while that is not known. */
  readonly installId?: string | undefined
  readonly ticket?: Ticket | undefined
}

/** The refusal for a database that is another one than this replica's: what would be written there is lost to this installation. */
export class ForeignDatabase extends Refusal {
  constructor() {
    super('UNAVAILABLE', 'The database under this address belongs to another installation.', {
      hint: 'ask the operator to look at DATABASE_URL',
      headers: { 'Retry-After': '10' },
    })
  }
}

/** Runs a transaction. Its revision is taken from the one row when first asked for, so that order is commit order. */
export async function runTransaction<T>(
  db: Drizzle,
  { secret, head: keptHead, installId, ticket }: TransactionTools,
  work: (tx: Transaction) => Promise<T>,
): Promise<Committed<T>> {
  const heads: NewHead[] = []
  let revision: number | undefined
  const result = await db.transaction(async (tx) => {
    // It may have waited for a connection until nobody waits for it any more.
    refuseLate(ticket)
    const takeRevision = async (): Promise<number> => {
      revision ??= await nextRevision(tx, installId)
      return revision
    }
    const answer = await work({
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
      quotas: quotasIn(tx, takeRevision),
      audit: auditIn(tx, { revision: takeRevision, secret, kept: keptHead, appended: (head) => void heads.push(head) }),
    })
    refuseLate(ticket)
    ticket?.committing()
    return answer
  })
  return { result, revision, heads }
}

function refuseLate(ticket: Ticket | undefined): void {
  if (ticket?.isOver() === true) throw new Refusal('UNAVAILABLE', 'The database did not answer in time.')
}

async function nextRevision(tx: DrizzleTx, installId: string | undefined): Promise<number> {
  const rows = await tx
    .update(installation)
    .set({ revision: sql`${installation.revision} + 1` })
    .returning({ revision: installation.revision, installId: installation.installId })
  const [row] = rows
  if (row === undefined) throw new Error('the installation row is missing')
  if (installId !== undefined && row.installId !== installId) throw new ForeignDatabase()
  await tx.execute(sql`select pg_notify(${revisionChannel}, ${String(row.revision)})`)
  return row.revision
}
