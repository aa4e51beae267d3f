import type { Command } from 'commander'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { commandVersion } from '../version-command.ts'

/** Adds `repertoire unyank`. */
export function addUnyank(program: Command): void {
  const command = program
    .command('unyank')
    .summary('take a yank back')
    .description(
      'Takes a yank back: the version is what it was before. What its line serves stays as it is; release lifts it to a version above that.',
    )
    .argument('<name>', 'the skill')
    .argument('<version>', 'the exact version')
  addCommandOptions(command)
    .addHelpText('after', examples('repertoire unyank query-order 1.1.0 --reason "the fault was elsewhere"'))
    .action(
      withContext((context, [name, version]: [string, string], options: CommandOptions) =>
        commandVersion(context, { name, version, verb: 'unyank' }, options),
      ),
    )
}
