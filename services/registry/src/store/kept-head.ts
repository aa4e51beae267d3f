import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditHead } from './audit-chain.ts'
import { replaceFile } from './replace-file.ts'

/** What is kept of the audit chain beside the database: its end, since when there is one, and where it was once found broken. */
export type KeptAudit = {
  readonly head: AuditHead
  /** The first event this replica has chained; whatever comes after it is part of the chain. */
  readonly since: number
  readonly broken: { readonly seq: number; readonly problem: string } | null
}

/** Where the end of the audit chain is kept beside the database. */
export type KeptHead = {
  readonly note: (head: AuditHead) => void
  /** Says for good that the chain did not hold: the next event must not make it whole again. */
  readonly markBroken: (seq: number, problem: string) => void
  /** What is kept; undefined before the first event of this replica, `unreadable` when the file is not as it was written. */
  readonly read: () => Promise<KeptAudit | 'unreadable' | undefined>
}

/** Keeps the end of the audit chain in a folder, so that a tail that is cut off in the database is missed. */
export function keepHead(folder: string, onError: (error: unknown) => void): KeptHead & { readonly stop: () => Promise<void> } {
  let kept: KeptAudit | 'unreadable' | undefined
  let isLoaded = false
  let writing: Promise<void> | undefined

  const load = async (): Promise<KeptAudit | 'unreadable' | undefined> => {
    if (!isLoaded) {
      const text = await readFile(join(folder, 'audit-head'), 'utf8').catch(() => undefined)
      // Another event may have been noted meanwhile; what is known by now is newer than the file.
      if (!isLoaded) kept ??= text === undefined ? undefined : readKept(text)
      isLoaded = true
    }
    return kept
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
    isLoaded = true
    const asked = next
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined
        if (kept !== asked && typeof kept === 'object') change(kept)
      })
  }
  return {
    note: (head) => {
      if (kept === 'unreadable') return
      // Transactions of one replica may answer in another order than they committed.
      if (kept !== undefined && kept.head.seq >= head.seq) return
      change({ head, since: kept?.since ?? head.seq, broken: kept?.broken ?? null })
    },
    markBroken: (seq, problem) => {
      if (typeof kept === 'object' && kept.broken === null) change({ ...kept, broken: { seq, problem } })
    },
    read: async () => {
      await writing
      return load()
    },
    stop: async () => {
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
