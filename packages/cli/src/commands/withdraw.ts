import type { Command } from 'commander'
import { addCommandOptions, urgentWait, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { commandVersion } from '../version-command.ts'
import { addVersionArguments, readVersionReference } from '../version-reference.ts'

type WithdrawOptions = CommandOptions & { readonly replacement?: string }

const kinds = [
  {
    verb: 'yank' as const,
    isUrgent: false,
    summary: 'withdraw a version from ranges; pins keep it',
    description:
      'Withdraws a version from ranges: the line serves the next one below it. Who pins the exact version still gets it, with a warning. unyank takes it back.',
    examples: [
      'repertoire yank query-order 1.1.0 --reason "rounds amounts" --dry-run',
      'repertoire yank query-order 1.1.0 --replacement 1.1.1 --reason "rounds amounts"',
    ],
  },
  {
    verb: 'block' as const,
    isUrgent: true,
    summary: 'withdraw a version from everybody, for good',
    description: 'Withdraws a version from everybody, pins too, at once and for good: nothing takes a block back.',
    examples: [
      'repertoire block query-order 1.1.0 --reason "leaks addresses of others" --yes',
      'repertoire block query-order 1.1.0 --replacement 1.1.1 --reason "leaks addresses of others" --dry-run',
    ],
  },
]

/** Adds `repertoire yank` and `repertoire block`: the same act, for ranges or for everybody. */
export function addWithdraw(program: Command): void {
  for (const { verb, isUrgent, summary, description, examples: lines } of kinds) {
    const command = program
      .command(verb)
      .summary(summary)
      .description(description)
      .option('--replacement <version>', 'the version to use instead, which whoever pins it is told')
    addVersionArguments(command)
    addCommandOptions(command, urgentWait)
      .addHelpText('after', examples(...lines))
      .action(
        withContext(async (context, [text, second]: [string, string | undefined], options: WithdrawOptions) =>
          commandVersion(
            context,
            { ...readVersionReference(text, second), verb, isUrgent, body: { replacement: options.replacement } },
            options,
          ),
        ),
      )
  }
}
