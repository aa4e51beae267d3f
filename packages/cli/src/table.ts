import { safeLine } from './safe-text.ts'
import { cutText, displayWidth, wrapText } from './text-width.ts'

/** Rows under a head, and what becomes of them on a narrow terminal. */
export type TableContent = {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** What the last column does where it does not fit: it is cut, or it wraps. */
  readonly overflow?: 'cut' | 'wrap'
  /** What a row becomes where the other columns leave no room: one value a line with its label, or two lines. */
  readonly narrow?: 'labels' | 'lines'
}

const separator = '  '
const indent = '    '
const leastLastColumn = 24

/** Lays a table out without borders, for so many columns; undefined means as wide as it is. */
export function layoutTable({ head, rows, overflow = 'cut', narrow = 'labels' }: TableContent, width = Infinity): string {
  const safe = rows.map((row) => row.map(safeLine))
  const all = [head, ...safe]
  const left = alignColumns(all.map((row) => row.slice(0, -1)))
  const last = all.map((row) => row.at(-1) ?? '')
  const leftWidth = widest(left)
  const room = width - leftWidth - separator.length
  if (room >= leastLastColumn || room >= widest(last)) {
    return lines(
      left.flatMap((line, index) => {
        const [first = '', ...more] = overflow === 'cut' ? [cutText(last[index] ?? '', room)] : wrapText(last[index] ?? '', room)
        return [`${line}${separator}${first}`, ...more.map((part) => `${' '.repeat(leftWidth)}${separator}${part}`)]
      }),
    )
  }
  if (narrow === 'labels') return safe.map((row) => layoutPairs(head.map((name, index) => [name, row[index] ?? '']))).join('\n')
  return lines(
    safe.flatMap((row) => [
      row
        .slice(0, -1)
        .filter((cell) => cell !== '')
        .join(separator),
      `${indent}${cutText(row.at(-1) ?? '', width - indent.length)}`,
    ]),
  )
}

/** Lays names and values out, one pair a line; pairs without a value are left out. */
export function layoutPairs(pairs: readonly (readonly [string, string | undefined])[]): string {
  const present = pairs.filter(([, value]) => value !== undefined && value !== '')
  const longest = widest(present.map(([name]) => name))
  return lines(present.map(([name, value]) => `${name.padEnd(longest)}${separator}${safeLine(value ?? '')}`))
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => widest(rows.map((row) => row[column] ?? '')))
  return rows.map((row) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - displayWidth(cell))).join(separator))
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0)
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join('')
}
