import type { Command } from 'commander'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { rolloutArgument } from '../find-rollout.ts'
import { percent } from '../read-option.ts'
import { commandRollout } from '../rollout-command.ts'
import { addCanaryStart } from './canary-start.ts'
import { addCanaryStatus } from './canary-status.ts'

const verbs = [
  {
    verb: 'pause' as const,
    description: 'Keeps the share as it is and takes no further step by itself, until somebody resumes.',
    example: 'repertoire canary pause query-order --reason "errors went up, looking into it" --yes',
    // Stopping must work whatever somebody else changed in the meantime.
    isUrgent: true,
  },
  {
    verb: 'resume' as const,
    description: 'Goes on after any pause, from the share it has now; its step begins anew.',
    example: 'repertoire canary resume query-order --reason "the errors were of a test"',
    isUrgent: false,
  },
  {
    verb: 'cancel' as const,
    description: 'Ends a rollout without a verdict: who got the candidate gets what the line serves, and the candidate stays one.',
    example: 'repertoire canary cancel query-order@1.1.0 --reason "to be tried again next week"',
    isUrgent: false,
  },
]

/** Adds `repertoire canary`. */
export function addCanary(program: Command): void {
  const canary = program
    .command('canary')
    .summary('give a share of agents a candidate, and see how it goes')
    .description('Gives a share of agents, sessions, tenants or calls a candidate before everybody gets it, and shows where that stands.')
  addCanaryStart(canary)
  addCanarySet(canary)
  for (const { verb, description, example, isUrgent } of verbs) {
    addCommandOptions(canary.command(verb).description(description).argument('<rollout>', rolloutArgument))
      .addHelpText('after', examples(example))
      .action(
        withContext((context, [rollout]: [string], options: CommandOptions) =>
          commandRollout(context, { rollout, verb, what: `${verb} the canary of`, isUrgent }, options),
        ),
      )
  }
  addCanaryStatus(canary)
}

function addCanarySet(canary: Command): void {
  const command = canary
    .command('set')
    .description('Changes the share a canary exposes. Nobody else moves: whoever has the candidate at 10 % has it at 25 % too.')
    .argument('<rollout>', rolloutArgument)
    .requiredOption('--percent <percent>', 'the share from now on, 0 to 100 with at most two decimals', percent)
  addCommandOptions(command)
    .addHelpText(
      'after',
      examples(
        'repertoire canary set query-order --percent 25 --reason "a day without errors"',
        'repertoire canary set query-order --percent 0 --reason "nobody until it is looked at" --yes',
      ),
    )
    .action(
      withContext((context, [rollout]: [string], options: CommandOptions & { readonly percent: number }) =>
        commandRollout(
          context,
          { rollout, verb: 'set-percent', what: `set to ${options.percent} % the canary of`, body: { percent: options.percent } },
          options,
        ),
      ),
    )
}
