/** How an export ended, by its last line: an export without one broke off. */
export type ExportEnd = { readonly complete: boolean; readonly rows?: number; readonly code?: string }

/** Passes the rows of an export on as they come, and answers with what its last line says, which is no row. */
export async function readExport(
  text: AsyncIterable<string>,
  format: 'ndjson' | 'csv',
  write: (piece: string) => Promise<void>,
): Promise<ExportEnd> {
  let last = ''
  for await (const piece of text) {
    const whole = last + piece
    // The last line is known to be the last one only when nothing follows.
    const cut = whole.lastIndexOf('\n', whole.length - 2) + 1
    last = whole.slice(cut)
    if (cut > 0) await write(whole.slice(0, cut))
  }
  const end = format === 'csv' ? endOfCsv(last) : endOfLines(last)
  if (end === undefined && last !== '') await write(last)
  return end ?? { complete: false }
}

function endOfCsv(line: string): ExportEnd | undefined {
  const match = /^#(end|broken),(\d+)(?:,(\w+))?\r\n$/.exec(line)
  return match === null
    ? undefined
    : { complete: match[1] === 'end', rows: Number(match[2]), ...(match[3] === undefined ? {} : { code: match[3] }) }
}

function endOfLines(line: string): ExportEnd | undefined {
  try {
    const { end } = JSON.parse(line) as {
      readonly end?: { readonly complete: boolean; readonly rows: number; readonly error?: { readonly code: string } }
    }
    return end === undefined
      ? undefined
      : { complete: end.complete, rows: end.rows, ...(end.error === undefined ? {} : { code: end.error.code }) }
  } catch {
    return undefined
  }
}
