import { Refusal } from '@repertoire/core'

const away = new Set([
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'ETIMEDOUT',
  'EHOSTUNREACH',
])

/** The code of a database error: a SQLSTATE, or the name of a connection fault. */
export function databaseErrorCode(error: unknown): string | undefined {
  let at: unknown = error
  for (let depth = 0; depth < 4 && typeof at === 'object' && at !== null; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
    at = 'cause' in at ? at.cause : undefined
  }
  return undefined
}

/**
 * Whether the database is away, overloaded or takes nothing now, rather than the query wrong: a replica that became a standby
 * only reads (25006), a password that is being changed is refused for a while (28), and so is what needs another state (55000).
 */
export function isDatabaseAway(error: unknown): boolean {
  const code = databaseErrorCode(error)
  return code !== undefined && (away.has(code) || /^(08|25006|28|53|55000|57P|57014)/.test(code))
}

/** Whether the data itself was refused: a row, not the database, is at fault. */
export function isDataRefused(error: unknown): boolean {
  return /^(22|23|42804|54)/.test(databaseErrorCode(error) ?? '')
}

/** Turns a database that is away or locked into a refusal; everything else stays what it is. */
export function explainDatabaseError(error: unknown): unknown {
  if (error instanceof Refusal) return error
  if (databaseErrorCode(error) === '55P03')
    return new Refusal('BUSY', 'Somebody else is changing this right now.', { headers: { 'Retry-After': '1' } })
  if (isDatabaseAway(error)) return new Refusal('UNAVAILABLE', 'The database is away.', { headers: { 'Retry-After': '2' } })
  return error
}
