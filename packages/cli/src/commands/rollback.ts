import type { Command } from 'commander'
import { addCommandOptions, urgentWait, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { rolloutArgument } from '../find-rollout.ts'
import { commandRollout } from '../rollout-command.ts'

/** Adds `repertoire rollback`. */
export function addRollback(program: Command): void {
  const command = program
    .command('rollback')
    .summary('take a candidate from everybody, promoted or not')
    .description(
      'Takes the candidate of a rollout from everybody who gets it by a range: in any state, and after a promotion too, when the line serves again what it replaced. The candidate is yanked; who pins it keeps it, which a dry run shows.',
    )
    .argument('<rollout>', rolloutArgument)
  addCommandOptions(command, urgentWait)
    .addHelpText(
      'after',
      examples(
        'repertoire rollback query-order --reason "totals are wrong for returns" --yes',
        'repertoire rollback query-order@1.2.0 --reason "totals are wrong for returns" --dry-run',
      ),
    )
    .action(
      withContext((context, [rollout]: [string], options: CommandOptions) =>
        commandRollout(context, { rollout, verb: 'rollback', what: 'roll back', isUrgent: true, mayHaveEnded: true }, options),
      ),
    )
}
