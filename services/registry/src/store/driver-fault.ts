/**
 * Whether an error was thrown by the driver where nobody can catch it: it writes to a connection that closed a moment before,
 * in a callback of its own or at the end of a COPY (porsager/postgres issues 1066, 1154 and 1208). What waited on that connection is refused by its
 * deadline, and the connection is replaced, so such an error has to end nothing.
 */
export function isDriverFault(error: unknown): boolean {
  if (!(error instanceof TypeError) || error.stack === undefined) return false
  const [, first = ''] = error.stack.split('\n')
  return /reading 'write'/.test(error.message) && /[/\\]postgres[/\\](src|cjs[/\\]src)[/\\]connection\.js/.test(first)
}
