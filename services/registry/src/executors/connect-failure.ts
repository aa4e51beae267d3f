const codes = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EACCES',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** Whether a request failed because no connection came about, so that nothing can have been done. */
export function isConnectFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof AggregateError) return error.errors.every(isConnectFailure)
  return ('code' in error && typeof error.code === 'string' && codes.has(error.code)) || isConnectFailure(error.cause)
}
