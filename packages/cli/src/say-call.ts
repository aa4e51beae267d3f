import type { Meta } from '@repertoire/sdk'
import type { Printer } from './print.ts'
import { safeJson } from './safe-text.ts'

/** What a call brought, and what the answer says of itself. */
export type CallAnswered = { readonly data: unknown; readonly meta: Meta }

/** The longest that any skill may take, in milliseconds. */
export const longestCallMs = 300_000
/** The registry ends a call at its deadline; whoever waits for it waits a little longer for the answer that says so. */
export const graceMs = 10_000

/** Prints the data of a call on standard output, and which version brought it, and why, on standard error. */
export function printCall(print: Printer, { data, meta }: CallAnswered, withMeta = false): void {
  const shown = withMeta ? { data, meta } : data
  print.result(shown, () => safeJson(shown))
  print.note(sayMeta(meta))
  for (const warning of meta.warnings) print.note(`warning: ${warning.message}`)
  if (meta.truncated !== undefined) print.note(`the result was cut: ${JSON.stringify(meta.truncated)}`)
}

function sayMeta(meta: Meta): string {
  const ran = meta.dry_run === true ? 'would answer' : `answered in ${Math.round(meta.duration_ms ?? 0)} ms`
  return `${meta.skill ?? ''} ${meta.version ?? ''} (${meta.via ?? ''}) ${ran}; call ${meta.call_id ?? ''}`
}
