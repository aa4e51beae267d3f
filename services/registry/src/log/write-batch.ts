import type { LogEntry } from '../stored.ts'
import { isDataRefused } from '../store/database-error.ts'

/** How a batch is written, and who hears of a row that the database does not take. */
export type BatchWriter = {
  readonly write: (entries: readonly LogEntry[]) => Promise<void>
  readonly onPoison: (entry: LogEntry, error: unknown) => void
}

/** Writes a batch so that one row the database does not take never costs the others: halves find it, and it is kept without its payloads. */
export async function writeBatch(writer: BatchWriter, entries: readonly LogEntry[]): Promise<void> {
  try {
    await writer.write(entries)
  } catch (error) {
    if (!isDataRefused(error)) throw error
    const [only] = entries
    if (entries.length > 1) {
      await writeBatch(writer, entries.slice(0, entries.length / 2))
      await writeBatch(writer, entries.slice(entries.length / 2))
    } else if (only !== undefined) {
      writer.onPoison(only, error)
      const { row, ready: _, ...beside } = only
      await writer
        .write([{ ...beside, row: { ...row, input: null, output: null, error_message: null, intent: null, labels: {} } }])
        .catch((again: unknown) => {
          // Not even the bare row: it stays in the log of this process, which has been told, and blocks nobody.
          if (!isDataRefused(again)) throw again
          writer.onPoison(only, again)
        })
    }
  }
}
