import { and, eq, sql } from 'drizzle-orm'
import type { Drizzle } from './connect.ts'
import { installation } from './tables/installation.ts'

/** Raises the epoch of a database that was restored, so that every replica reads it whole; whoever comes second raises nothing. */
export async function raiseEpoch(db: Drizzle, found: { readonly installId: string; readonly epoch: number }): Promise<void> {
  await db
    .update(installation)
    .set({ epoch: sql`${installation.epoch} + 1` })
    .where(and(eq(installation.installId, found.installId), eq(installation.epoch, found.epoch)))
}
