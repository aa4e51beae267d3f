import type postgres from 'postgres'

/** A column as it is copied: its name, and its value of a row as text; null where it has none. */
export type CopiedColumn<Row> = { readonly name: string; readonly of: (row: Row) => string | null }

/** Which columns of which table, and the lines of the rows. */
export type Copied = { readonly table: string; readonly columns: readonly string[]; readonly lines: readonly Buffer[] }

/**
 * Copies lines into a table, and answers once the server has taken all of them. It takes a row this way for much less than an
 * insert from arrays costs; what is there already has to be kept out beforehand.
 */
export async function copyInto(tx: postgres.TransactionSql, { table, columns, lines }: Copied): Promise<void> {
  const stream = await tx.unsafe(`copy "${table}" (${columns.map((name) => `"${name}"`).join(', ')}) from stdin`).writable()
  await new Promise<void>((resolve, reject) => {
    stream.once('error', reject)
    stream.once('finish', resolve)
    stream.end(Buffer.concat(lines))
  })
}

/** A row as a line of COPY; plain where no text in it has to be escaped. */
export function writeLine<Row>(columns: readonly CopiedColumn<Row>[], row: Row, isPlain: boolean): string {
  let line = ''
  for (const { of } of columns) {
    if (line !== '') line += '\t'
    line += writeField(of(row), isPlain)
  }
  return `${line}\n`
}

// What a line has to be rid of, and what it has to escape.
const special = /[\\\t\n\r\u0000\ud800-\udfff]/
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** A value as a field of such a line. */
export function writeField(value: string | null, isPlain: boolean): string {
  if (value === null) return '\\N'
  return !isPlain && special.test(value) ? cleanText(value).replace(/[\\\t\n\r]/g, (found) => escapes[found] ?? found) : value
}

/** A text as Postgres keeps it: it takes neither U+0000 nor half a surrogate pair, and one such character must not cost a whole batch. */
export function cleanText(value: string): string {
  return value.replaceAll('\u0000', '\uFFFD').toWellFormed()
}
