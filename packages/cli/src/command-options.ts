import type { Command } from 'commander'
import { reason, waiting } from './read-option.ts'

/** How a command that changes what agents get was given. */
export type CommandOptions = {
  readonly reason: string
  readonly dryRun?: boolean
  readonly yes?: boolean
  /** How long to wait for replicas; false with --no-wait. */
  readonly wait?: string | false
  readonly ifMatch?: string
}

/** The wait of commands that take something away: with it, their answer says who obeys. */
export const urgentWait = '3s'

/** Gives a command the options of all that change what agents get, with the wait it has unless told. */
export function addCommandOptions(command: Command, wait?: string): Command {
  return command
    .requiredOption('--reason <text>', 'why now; at least 8 characters, kept in the audit log', reason)
    .option('--dry-run', 'show who would get what, and change nothing')
    .option('--yes', 'carry it out without showing and asking first')
    .option('--wait <duration>', 'wait so long for all replicas to obey, such as 3s', waiting, wait)
    .option('--no-wait', 'do not wait for replicas')
    .option('--if-match <tag>', 'the ETag it was decided upon; unless given, that of what was shown or is there now')
}
