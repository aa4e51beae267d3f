import type { Command } from 'commander'
import { addCommandOptions, urgentWait, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { rolloutArgument } from '../find-rollout.ts'
import { collect } from '../read-option.ts'
import { commandRollout } from '../rollout-command.ts'

/** Adds `repertoire promote`. */
export function addPromote(program: Command): void {
  const command = program
    .command('promote')
    .summary('give everybody the candidate of a canary')
    .description('Makes the candidate of a rollout what its line serves, for everybody, at once. A rollback takes that back.')
    .argument('<rollout>', rolloutArgument)
  addCommandOptions(command, urgentWait)
    .option('--accept-tag <tag>', 'a permission tag the version needs and its line did not; once for each', collect)
    .addHelpText(
      'after',
      examples(
        'repertoire promote query-order --reason "a week at 25 % without errors" --dry-run',
        'repertoire promote query-order@1.2.0 --reason "a week at 25 % without errors"',
      ),
    )
    .action(
      withContext((context, [rollout]: [string], options: CommandOptions & { readonly acceptTag?: readonly string[] }) => {
        const body = { accept_tags: options.acceptTag }
        return commandRollout(context, { rollout, verb: 'promote', what: 'promote', body, mayHaveEnded: true }, options)
      }),
    )
}
