import type { NewCallRow } from '../stored.ts'
import { isDataRefused } from '../store/database-error.ts'

/** How a batch is written, and who hears of a row that the database does not take. */
export type BatchWriter = {
  readonly write: (rows: readonly NewCallRow[]) => Promise<void>
  readonly onPoison: (row: NewCallRow, error: unknown) => void
}

/** Writes a batch so that one row the database does not take never costs the others: halves find it, and it is kept without its payloads. */
export async function writeBatch(writer: BatchWriter, rows: readonly NewCallRow[]): Promise<void> {
  try {
    await writer.write(rows)
  } catch (error) {
    if (!isDataRefused(error)) throw error
    const [only] = rows
    if (rows.length > 1) {
      await writeBatch(writer, rows.slice(0, rows.length / 2))
      await writeBatch(writer, rows.slice(rows.length / 2))
    } else if (only !== undefined) {
      writer.onPoison(only, error)
      await writer
        .write([{ ...only, input: null, output: null, error_message: null, intent: null, labels: {} }])
        .catch((again: unknown) => {
          // Not even the bare row: it stays in the log of this process, which has been told, and blocks nobody.
          if (!isDataRefused(again)) throw again
          writer.onPoison(only, again)
        })
    }
  }
}
