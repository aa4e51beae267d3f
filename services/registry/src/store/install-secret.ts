import { systemCaller } from '@repertoire/core'
import { createHmac } from 'node:crypto'
import { isNull } from 'drizzle-orm'
import { secretRenewed } from './audit-chain.ts'
import type { Drizzle } from './connect.ts'
import { installation } from './tables/installation.ts'
import { runTransaction } from './transaction.ts'

/** A replica whose install secret is not that of the installation. */
export class OtherSecret extends Error {
  constructor() {
    super(
      'The install secret of this replica is not that of the installation: point REPERTOIRE_SECRET_FILE of all replicas to copies of one file. If the old one is lost, start once with REPERTOIRE_NEW_SECRET=1; the audit log is then verifiable from that moment on.',
    )
  }
}

/** Makes sure that all replicas of an installation have one secret; the first start decides which, and a renewal is an audit event. */
export async function requireInstallSecret(
  db: Drizzle,
  secret: Uint8Array,
  { at, mayRenew }: { readonly at: Date; readonly mayRenew: boolean },
): Promise<void> {
  const secretCheck = createHmac('sha256', secret).update('repertoire install secret').digest('hex')
  const first = await db
    .update(installation)
    .set({ secretCheck })
    .where(isNull(installation.secretCheck))
    .returning({ one: installation.one })
  if (first.length > 0) return
  const [known] = await db.select({ secretCheck: installation.secretCheck }).from(installation)
  if (known?.secretCheck === secretCheck) return
  if (!mayRenew) throw new OtherSecret()
  await db.update(installation).set({ secretCheck })
  await runTransaction(db, { secret }, async (tx) => {
    await tx.audit.append({ caller: systemCaller, action: secretRenewed, subject: 'installation', reason: 'REPERTOIRE_NEW_SECRET=1', at })
  })
}
