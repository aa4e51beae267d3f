import type { LineChanged } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { usageError } from '../command-error.ts'
import { carryOut } from '../command-flow.ts'
import { addCommandOptions, urgentWait, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { collect } from '../read-option.ts'
import { sayLineReverted } from '../say-changed.ts'

type RevertOptions = CommandOptions & { readonly to: string; readonly line?: string; readonly acceptTag?: readonly string[] }

/** Adds `repertoire revert`. */
export function addRevert(program: Command): void {
  const command = program
    .command('revert')
    .summary('let a line serve an older version again')
    .description(
      'Lets a line serve an older version again. What that steps over is yanked along with it and rollouts above it end, so that no later promotion brings them back.',
    )
    .argument('<name>', 'the skill')
    .requiredOption('--to <version>', 'the exact version to serve')
    .option('--line <line>', 'the line, such as 1 or 0.4; that of the version unless given')
  addCommandOptions(command, urgentWait)
    .option('--accept-tag <tag>', 'a permission tag it needs and its line does not today; once for each', collect)
    .addHelpText(
      'after',
      examples(
        'repertoire revert query-order --to 1.0.0 --reason "1.1 and 1.2 lose orders" --dry-run',
        'repertoire revert query-order --to 1.0.0 --reason "1.1 and 1.2 lose orders"',
      ),
    )
    .action(
      withContext(async (context, [name]: [string], options: RevertOptions) => {
        const line = options.line ?? (await lineOfVersion(options.to))
        const change = {
          what: `revert line ${line} of ${name} to ${options.to}`,
          path: apiPath`/v1/skills/${name}/lines/${line}/revert`,
          body: { to: options.to, accept_tags: options.acceptTag },
          about: apiPath`/v1/skills/${name}/versions`,
          isUrgent: false,
          say: sayLineReverted,
        }
        await carryOut<LineChanged>(context, change, options)
      }),
    )
}

async function lineOfVersion(text: string): Promise<string> {
  const { lineOf, readVersion } = await import('@repertoire/core')
  const read = readVersion(text)
  if (!read.ok) throw usageError(`--to takes an exact version: ${read.message}.`, read.fix)
  return lineOf(read.version)
}
