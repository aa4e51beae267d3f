import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { linkAt, whatBecameOf, type AuditHead, type NewHead } from './audit-chain.ts'
import type { Database } from './connect.ts'
import { replaceFile } from './replace-file.ts'

/** What is kept of the audit chain beside the database: its end, since when there is one, and where it was once found broken. */
export type KeptAudit = {
  readonly head: AuditHead
  /** The first event this replica appended or heard of; whatever comes after it is part of the chain. */
  readonly since: number
  readonly broken: { readonly seq: number; readonly problem: string } | null
}

/** Where the end of the audit chain is kept beside the database. */
export type KeptHead = {
  /** Keeps an end of the chain that this replica appended or heard of, unless it knows of a later one. */
  readonly note: (head: NewHead) => void
  /** Says for good that the chain did not hold: the next event must not make it whole again. */
  readonly markBroken: (seq: number, problem: string) => void
  /** What is kept; undefined before the first event this replica knows of, `unreadable` when the file is not as it was written. */
  readonly read: () => Promise<KeptAudit | 'unreadable' | undefined>
}

/** What keeping the end works with. */
export type KeptHeadOptions = {
  readonly folder: string
  readonly database: Pick<Database, 'pulse'>
  readonly onError: (error: unknown) => void
}

/** Keeps the end of the audit chain in a folder, so that a tail that is cut off in the database is missed. */
export function keepHead({ folder, database: { pulse }, onError }: KeptHeadOptions): KeptHead & { readonly stop: () => Promise<void> } {
  let kept: KeptAudit | 'unreadable' | undefined
  let loading: Promise<void> | undefined
  let writing: Promise<void> | undefined
  let following: Promise<void> | undefined
  let newest: NewHead | undefined

  // Nothing is noted before the file was read: it may know of a later end, or that the chain was broken.
  const load = (): Promise<void> => {
    loading ??= readFile(join(folder, 'audit-head'), 'utf8').then(
      (text) => void (kept = readKept(text)),
      () => undefined,
    )
    return loading
  }
  const write = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o711 })
    for (let written: unknown; kept !== written && typeof kept === 'object';) {
      const next = kept
      await replaceFile(folder, 'audit-head', (put) => put(JSON.stringify(next)))
      written = next
    }
  }
  const change = (next: KeptAudit): void => {
    kept = next
    const asked = next
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined
        if (kept !== asked && typeof kept === 'object') change(kept)
      })
  }
  const markBroken = (seq: number, problem: string): void => {
    if (typeof kept === 'object' && kept.broken === null) change({ ...kept, broken: { seq, problem } })
  }
  const take = async (head: NewHead): Promise<void> => {
    if (kept === 'unreadable') return
    // Transactions of one replica may answer in another order than they committed, and others tell of theirs meanwhile.
    if (kept !== undefined && kept.head.seq >= head.seq) return
    // Behind something else than what is kept: either some ends were missed, or what is kept was cut off before this was appended.
    const before = kept?.head
    if (before !== undefined && before.hash !== head.previous && kept?.broken === null) {
      const problem = whatBecameOf(before, await pulse.gate.run(() => linkAt(pulse.db, before.seq)))
      if (problem !== undefined) markBroken(before.seq, problem)
    }
    change({ head: { seq: head.seq, hash: head.hash }, since: kept?.since ?? head.seq, broken: kept?.broken ?? null })
  }
  const follow = async (): Promise<void> => {
    await load()
    for (let head = newest; head !== undefined; head = newest) {
      newest = undefined
      await take(head).catch(onError)
    }
  }
  return {
    // Only the newest waits: a later end says of those before it whatever they would have said.
    note: (head) => {
      if (newest === undefined || head.seq > newest.seq) newest = head
      following ??= follow().finally(() => (following = undefined))
    },
    markBroken,
    read: async () => {
      await load()
      await following
      await writing
      return kept
    },
    stop: async () => {
      await following
      await writing
    },
  }
}

function readKept(text: string): KeptAudit | 'unreadable' {
  try {
    const value = JSON.parse(text) as Partial<KeptAudit> | null
    return typeof value?.head?.seq === 'number' && typeof value.head.hash === 'string' && typeof value.since === 'number'
      ? { head: value.head, since: value.since, broken: value.broken ?? null }
      : 'unreadable'
  } catch {
    return 'unreadable'
  }
}
