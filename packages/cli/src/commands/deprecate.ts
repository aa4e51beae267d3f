import type { Command } from 'commander'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { moment } from '../read-option.ts'
import { commandVersion } from '../version-command.ts'
import { addVersionArguments, readVersionReference } from '../version-reference.ts'

type DeprecateOptions = CommandOptions & { readonly sunset?: string; readonly replacement?: string }

/** Adds `repertoire deprecate`. */
export function addDeprecate(program: Command): void {
  const command = program
    .command('deprecate')
    .summary('warn everybody who gets a version')
    .description(
      'Warns everybody who gets a version, with a date and a replacement where there are; it is served as before. Saying it again replaces what was said.',
    )
    .option('--sunset <time>', 'when it goes away, such as 2026-12-31', moment)
    .option('--replacement <version>', 'the version to use instead')
  addVersionArguments(command)
  addCommandOptions(command)
    .addHelpText(
      'after',
      examples(
        'repertoire deprecate query-order 1.0.0 --sunset 2026-12-31 --replacement 1.1.0 --reason "amounts without tax"',
        'repertoire deprecate query-order@1.0.0 --reason "amounts without tax" --dry-run',
      ),
    )
    .action(
      withContext(async (context, [text, second]: [string, string | undefined], options: DeprecateOptions) =>
        commandVersion(
          context,
          { ...readVersionReference(text, second), verb: 'deprecate', body: { sunset: options.sunset, replacement: options.replacement } },
          options,
        ),
      ),
    )
}
