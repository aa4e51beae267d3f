import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { reason } from '../read-option.ts'
import { usageError } from '../command-error.ts'

type TransferOptions = { readonly team?: string; readonly nobody?: boolean; readonly reason: string }
type Transferred = { readonly name: string; readonly team: string | null; readonly previous_team: string | null; readonly changed: boolean }

/** Adds `repertoire transfer`. */
export function addTransfer(program: Command): void {
  program
    .command('transfer')
    .summary('give a skill to another team')
    .description('Gives a skill to another team: its publishers may publish new versions from then on, those of the team before no longer.')
    .argument('<name>', 'the skill')
    .option('--team <team>', 'the team that owns it from now on')
    .option('--nobody', 'no team owns it: only operators and admins publish it')
    .requiredOption('--reason <text>', 'why; at least 8 characters, kept in the audit log', reason)
    .addHelpText('after', examples('repertoire transfer query-order --team orders --reason "the orders team runs it now"'))
    .action(
      withContext(async ({ print, registry }, [name]: [string], options: TransferOptions) => {
        if ((options.team === undefined) === (options.nobody !== true))
          throw usageError('Whose is it from now on?', 'give --team TEAM, or --nobody')
        const { data } = await registry().transport.send<Transferred>('POST', apiPath`/v1/skills/${name}/transfer`, {
          body: { team: options.team ?? null, reason: options.reason },
        })
        print.result(
          data,
          () =>
            `${data.name} ${data.changed ? 'is' : 'was already'} ${data.team === null ? "nobody's" : `of team ${data.team}`}${data.changed ? ' now' : ''}\n`,
        )
      }),
    )
}
