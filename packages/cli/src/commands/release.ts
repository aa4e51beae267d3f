import type { Command } from 'commander'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { collect } from '../read-option.ts'
import { commandVersion } from '../version-command.ts'
import { addVersionArguments, readVersionReference } from '../version-reference.ts'

/** Adds `repertoire release`. */
export function addRelease(program: Command): void {
  const command = program
    .command('release')
    .summary('release a candidate, so that ranges may choose it')
    .description('Releases a candidate. When it is the newest of its line, the line serves it to everybody, at once and on every replica.')
  addVersionArguments(command)
  addCommandOptions(command)
    .option('--accept-tag <tag>', 'a permission tag the version needs and its line did not; once for each', collect)
    .addHelpText(
      'after',
      examples(
        'repertoire release query-order 1.1.0 --reason "checked by the orders team" --dry-run',
        'repertoire release query-order@1.1.0 --reason "checked by the orders team" --yes',
      ),
    )
    .action(
      withContext(
        async (
          context,
          [text, second]: [string, string | undefined],
          options: CommandOptions & { readonly acceptTag?: readonly string[] },
        ) =>
          commandVersion(
            context,
            { ...readVersionReference(text, second), verb: 'release', body: { accept_tags: options.acceptTag } },
            options,
          ),
      ),
    )
}
