// Version, trace, parent and flags as W3C Trace Context writes them; version 00 has nothing behind them, a later one may.
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.{0,160})?$/

/** The caller's trace as it is forwarded and logged; null where it is none, which the standard tells us to ignore. */
export function readTraceparent(header: string | undefined): string | null {
  const [, version, more] = form.exec(header ?? '') ?? []
  return header === undefined || version === undefined || (version === '00' && more !== undefined) ? null : header
}
