import { CallRow } from '@repertoire/contract'
import type { Refusal } from '@repertoire/core'

/** Writes rows in one form. Every export ends with a line that says whether it is whole. */
export type RowWriter = {
  readonly type: string
  readonly head: string
  readonly row: (row: CallRow) => string
  readonly whole: (rows: number) => string
  readonly broken: (rows: number, why: Refusal) => string
}

/** The writer of a form. */
export function writerOf(format: 'ndjson' | 'csv'): RowWriter {
  return format === 'csv' ? csv : ndjson
}

const ndjson: RowWriter = {
  type: 'application/x-ndjson; charset=utf-8',
  head: '',
  row: (row) => `${JSON.stringify(row)}\n`,
  whole: (rows) => `${JSON.stringify({ end: { complete: true, rows } })}\n`,
  broken: (rows, { code, message }) => `${JSON.stringify({ end: { complete: false, rows, error: { code, message } } })}\n`,
}

const columns = Object.keys(CallRow.shape) as (keyof CallRow)[]

const csv: RowWriter = {
  type: 'text/csv; charset=utf-8; header=present',
  head: `${columns.join(',')}\r\n`,
  row: (row) => `${columns.map((name) => cell(row[name])).join(',')}\r\n`,
  whole: (rows) => `#end,${rows}\r\n`,
  broken: (rows, { code }) => `#broken,${rows},${code}\r\n`,
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  // A spreadsheet takes what begins like this for a formula, and runs it.
  return `"${(/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}
