import type postgres from 'postgres'

/** A column as it is copied: its name, and its value of a row as text; null where it has none. `isEscaped` where that is as COPY reads it. */
export type CopiedColumn<Row> = { readonly name: string; readonly of: (row: Row) => string | null; readonly isEscaped?: true }

/** A table as rows are copied into it. Lines can be written ahead, while the server still takes others. */
export type CopyTarget<Row extends object> = {
  readonly prepare: (row: Row, isPlain: boolean) => void
  readonly copy: (tx: postgres.TransactionSql, rows: readonly Row[]) => Promise<void>
}

/**
 * Makes such a target. The server takes a row this way for much less than an insert from arrays costs; what is there already has
 * to be kept out beforehand.
 */
export function copyInto<Row extends object>(table: string, columns: readonly CopiedColumn<Row>[]): CopyTarget<Row> {
  const command = `copy "${table}" (${columns.map(({ name }) => `"${name}"`).join(', ')}) from stdin`
  const written = new WeakMap<Row, string>()
  const write = (row: Row, isPlain: boolean): string => {
    let line = ''
    for (const { of, isEscaped } of columns) {
      const value = of(row)
      if (line !== '') line += '\t'
      line += value === null ? '\\N' : isPlain || isEscaped === true ? value : field(value)
    }
    return `${line}\n`
  }
  return {
    prepare: (row, isPlain) => void written.set(row, write(row, isPlain)),
    copy: async (tx, rows) => {
      const stream = await tx.unsafe(command).writable()
      await new Promise<void>((resolve, reject) => {
        stream.once('error', reject)
        // It is finished once the server has taken all of it.
        stream.once('finish', resolve)
        stream.end(Buffer.from(rows.map((row) => written.get(row) ?? write(row, false)).join('')))
      })
    },
  }
}

// What a line has to be rid of, and what it has to escape.
const special = /[\\\t\n\r\u0000\ud800-\udfff]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

function field(value: string): string {
  return special.test(value) ? cleanText(value).replace(/[\\\t\n\r]/g, (found) => escapes[found] ?? found) : value
}

/** A text as Postgres keeps it: it takes neither U+0000 nor half a surrogate pair, and one such character must not cost a whole batch. */
export function cleanText(value: string): string {
  return value.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
