import { createHmac, timingSafeEqual } from 'node:crypto'
import type { NewHead } from './audit-chain.ts'
import type { Database } from './connect.ts'
import type { KeptHead } from './kept-head.ts'

/** The channel on which a commit tells all replicas where the audit chain ends now; revisions have one of their own. */
export const headChannel = 'repertoire_audit_head'

/** An end of the chain as it is told: with a keyed hash, so that nobody without the install secret can make one up. */
export function tellHead(secret: Uint8Array, head: NewHead): string {
  return `${head.seq} ${head.hash} ${head.previous ?? '-'} ${sealOf(secret, head)}`
}

/** The end that was told; undefined when it was not told by somebody who has the install secret. */
export function readHead(secret: Uint8Array, told: string): NewHead | undefined {
  const [, seq, hash, previous, seal] = /^(\d{1,15}) ([0-9a-f]{64}) ([0-9a-f]{64}|-) ([0-9a-f]{64})$/.exec(told) ?? []
  if (seq === undefined || hash === undefined || previous === undefined || seal === undefined) return undefined
  const head = { seq: Number(seq), hash, previous: previous === '-' ? null : previous }
  return timingSafeEqual(Buffer.from(sealOf(secret, head)), Buffer.from(seal)) ? head : undefined
}

/** Keeps the ends that other replicas tell beside this one's own; what was missed is made good by the next. Answers with a way to stop. */
export function hearHeads(
  database: Pick<Database, 'listen'>,
  { secret, kept }: { readonly secret: Uint8Array; readonly kept: Pick<KeptHead, 'note'> },
  onError: (error: unknown) => void,
): () => Promise<void> {
  const onPayload = (told: string): void => {
    const head = readHead(secret, told)
    if (head !== undefined) kept.note(head)
  }
  return database.listen({ channel: headChannel, onPayload }, onError)
}

function sealOf(secret: Uint8Array, { seq, hash, previous }: NewHead): string {
  return createHmac('sha256', secret)
    .update(`audit head\n${seq}\n${hash}\n${previous ?? ''}`)
    .digest('hex')
}
