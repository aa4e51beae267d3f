import { createHmac, timingSafeEqual } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { NewHead } from './audit-chain.ts'
import type { Database } from './connect.ts'
import type { KeptHead } from './kept-head.ts'

/** The channel on which a commit tells all replicas where the audit chain ends now; revisions have one of their own. */
export const headChannel = 'repertoire_audit_head'

// What a replica asks that listens (again): all who know of an end tell it.
const question = 'where does it end'

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

/** Keeps the ends that other replicas tell beside this one's own; what was told while nobody listened is asked for. Answers with a way to stop. */
export function hearHeads(
  database: Pick<Database, 'listen' | 'pulse'>,
  { secret, kept }: { readonly secret: Uint8Array; readonly kept: Pick<KeptHead, 'note' | 'read'> },
  onError: (error: unknown) => void,
): () => Promise<void> {
  const { gate, db } = database.pulse
  const tell = (told: string): Promise<unknown> => gate.run(() => db.execute(sql`select pg_notify(${headChannel}, ${told})`))
  let answering: Promise<void> | undefined
  // Told without what came before it: a replica that missed some looks up what became of the end it kept.
  const answer = async (): Promise<void> => {
    const known = await kept.read()
    if (typeof known === 'object') await tell(tellHead(secret, { ...known.head, previous: null }))
  }
  const onPayload = (told: string): void => {
    if (told === question) {
      answering ??= answer()
        .catch(onError)
        .finally(() => (answering = undefined))
      return
    }
    const head = readHead(secret, told)
    if (head !== undefined) kept.note(head)
  }
  const onListen = (): void => void tell(question).catch(onError)
  return database.listen({ channel: headChannel, onPayload, onListen }, onError)
}

function sealOf(secret: Uint8Array, { seq, hash, previous }: NewHead): string {
  return createHmac('sha256', secret)
    .update(`audit head\n${seq}\n${hash}\n${previous ?? ''}`)
    .digest('hex')
}
