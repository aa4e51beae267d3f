import type { RolloutChanged } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { usageError } from '../command-error.ts'
import { carryOut } from '../command-flow.ts'
import { addCommandOptions, type CommandOptions } from '../command-options.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { collect, moment, percent, step, type Step } from '../read-option.ts'
import { sayRolloutChanged } from '../say-changed.ts'
import { addVersionArguments, readVersionReference } from '../version-reference.ts'

type StartOptions = CommandOptions & {
  readonly percent?: number
  readonly unit: string
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly step?: readonly Step[]
  readonly startAt?: string
  readonly force?: boolean
}

/** Adds `repertoire canary start`. */
export function addCanaryStart(canary: Command): void {
  const command = canary
    .command('start')
    .description(
      'Starts a canary: a share of units gets the candidate wherever their range takes it, always the same ones. Everybody else gets what the line serves.',
    )
    .option(
      '--percent <percent>',
      'the share at the start, 0 to 100 with at most two decimals; that of the first step unless given',
      percent,
    )
    .addOption(new Option('--unit <unit>', 'what the share is counted in').choices(['agent', 'session', 'tenant', 'call']).default('agent'))
    .option('--allow <agent>', 'an agent that gets it whatever the share; may be given several times', collect)
    .option('--deny <agent>', 'an agent that never gets it; may be given several times', collect)
    .option('--step <percent:time>', 'the next share by itself, and how long it stays; may be given several times', step)
    .option('--start-at <time>', 'when it begins by itself, such as 2026-12-31T18:00:00Z', moment)
    .option('--force', 'start although the share selects nobody')
  addVersionArguments(command, 'the candidate, as an exact version')
  addCommandOptions(command)
    .addHelpText(
      'after',
      examples(
        'repertoire canary start query-order 1.2.0 --percent 10 --reason "orders team wants it tried"',
        'repertoire canary start query-order 1.2.0 --step 5:1h --step 25:4h --step 100 --reason "usual ramp"',
        'repertoire canary start query-order 1.2.0 --percent 0 --allow desk-bot --reason "one agent first" --dry-run',
      ),
    )
    .action(
      withContext(async (context, [text, second]: [string, string | undefined], options: StartOptions) => {
        const { percent: share, unit, allow, deny, step: steps, startAt, force } = options
        const { name, version } = readVersionReference(text, second)
        if (share === undefined && steps === undefined)
          throw usageError('A canary needs a share to start with.', 'add --percent 10, or steps such as --step 5:1h --step 25:4h')
        const change = {
          what: `start a canary of ${name} ${version}`,
          path: apiPath`/v1/skills/${name}/rollouts`,
          body: { version, percent: share, unit, allow, deny, steps, start_at: startAt, force },
          about: apiPath`/v1/skills/${name}/versions`,
          isUrgent: false,
          say: sayRolloutChanged,
        }
        const started = await carryOut<RolloutChanged>(context, change, options)
        if (started !== undefined) context.print.note(`see where it stands with: repertoire canary status ${started.id}`)
      }),
    )
}
