import type { Command } from 'commander'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { commandVersion } from '../version-command.ts'
import { addVersionArguments, readVersionReference } from '../version-reference.ts'

/** Adds `repertoire unyank`. */
export function addUnyank(program: Command): void {
  const command = program
    .command('unyank')
    .summary('take a yank back')
    .description(
      'Takes a yank back: the version is what it was before. What its line serves stays as it is; release lifts it to a version above that.',
    )
  addVersionArguments(command)
  addCommandOptions(command)
    .addHelpText('after', examples('repertoire unyank query-order 1.1.0 --reason "the fault was elsewhere"'))
    .action(
      withContext(async (context, [text, second]: [string, string | undefined], options: CommandOptions) =>
        commandVersion(context, { ...readVersionReference(text, second), verb: 'unyank' }, options),
      ),
    )
}
