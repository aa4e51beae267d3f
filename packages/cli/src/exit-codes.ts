/** Every way a command can end, the number a script sees, and what it means. `--help` prints this table. */
export const exits = {
  ok: { code: 0, meaning: 'it worked' },
  bug: { code: 1, meaning: 'a fault of the command line or of the registry' },
  usage: { code: 2, meaning: 'an unknown command, option or argument' },
  badInput: { code: 3, meaning: 'a skill, an argument or a request that cannot be taken as it is' },
  denied: { code: 4, meaning: 'no key, a key that is not valid, or one that may not do this' },
  notFound: { code: 5, meaning: 'no such skill, version, rollout, agent, key, grant or call' },
  conflict: { code: 6, meaning: 'it exists already, has changed, was withdrawn, or is not in a state for this' },
  unavailable: { code: 7, meaning: 'no answer: the registry is away, busy, or too late' },
  skillError: { code: 8, meaning: 'the skill itself said no' },
  executorFailed: { code: 9, meaning: 'what carries the skill out broke' },
  someRefused: { code: 10, meaning: 'import --strict: every folder was handled, and some were refused or not released' },
  interrupted: { code: 130, meaning: 'stopped by a signal (an import reports how far it came), or the question was not answered with yes' },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>

/** One way a command can end. */
export type Exit = keyof typeof exits

/** How a command ends after an answer with this HTTP status. */
export function exitOfStatus(status: number): Exit {
  if (status === 401 || status === 403) return 'denied'
  if (status === 404) return 'notFound'
  if (status === 409 || status === 410 || status === 412) return 'conflict'
  if (status === 408 || status === 503 || status === 504) return 'unavailable'
  if (status === 502) return 'executorFailed'
  return status >= 400 && status < 500 ? 'badInput' : 'bug'
}
