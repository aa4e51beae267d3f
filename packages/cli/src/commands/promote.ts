import type { Command } from 'commander'
import { addCommandOptions, urgentWait, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { rolloutArgument } from '../find-rollout.ts'
import { commandRollout } from '../rollout-command.ts'

/** Adds `repertoire promote`. */
export function addPromote(program: Command): void {
  const command = program
    .command('promote')
    .summary('give everybody the candidate of a canary')
    .description('Makes the candidate of a rollout what its line serves, for everybody, at once. A rollback takes that back.')
    .argument('<rollout>', rolloutArgument)
  addCommandOptions(command, urgentWait)
    .addHelpText(
      'after',
      examples(
        'repertoire promote query-order --reason "a week at 25 % without errors" --dry-run',
        'repertoire promote query-order@1.2.0 --reason "a week at 25 % without errors"',
      ),
    )
    .action(
      withContext((context, [rollout]: [string], options: CommandOptions) =>
        commandRollout(context, { rollout, verb: 'promote', what: 'promote', mayHaveEnded: true }, options),
      ),
    )
}
