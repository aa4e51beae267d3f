import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuditHead } from './audit.ts'
import type { KeptHead } from './open-store.ts'
import { replaceFile } from './replace-file.ts'

/** Keeps the end of the audit chain in a folder, so that a tail that is cut off in the database is missed. */
export function keepHead(folder: string, onError: (error: unknown) => void): KeptHead & { readonly stop: () => Promise<void> } {
  let newest: AuditHead | undefined
  let writing: Promise<void> | undefined

  const write = async (): Promise<void> => {
    await mkdir(folder, { recursive: true, mode: 0o711 })
    for (let head = newest, written: AuditHead | undefined; head !== written; head = newest) {
      await replaceFile(folder, 'audit-head', (put) => put(JSON.stringify(head)))
      written = head
    }
  }
  const startWriting = (): void => {
    const asked = newest
    writing ??= write()
      .catch(onError)
      .finally(() => {
        writing = undefined
        if (newest !== asked) startWriting()
      })
  }
  return {
    note: (head) => {
      // Transactions of one replica may answer in another order than they committed.
      if (newest !== undefined && newest.seq >= head.seq) return
      newest = head
      startWriting()
    },
    read: async () => {
      await writing
      if (newest !== undefined) return newest
      const text = await readFile(join(folder, 'audit-head'), 'utf8').catch(() => undefined)
      return text === undefined ? undefined : (JSON.parse(text) as AuditHead)
    },
    stop: async () => {
      await writing
    },
  }
}
