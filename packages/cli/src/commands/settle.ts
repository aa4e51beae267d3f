import type { CallRow } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { usageError } from '../command-error.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { reason } from '../read-option.ts'

type SettleOptions = { readonly reason: string; readonly happened?: boolean; readonly didNotHappen?: boolean }

/** Adds `repertoire settle`. */
export function addSettle(program: Command): void {
  program
    .command('settle')
    .summary('say what became of a call nobody knows the end of')
    .description(
      'Says whether a call whose outcome is unknown had its effect, once, for everybody. Where it had none, its Idempotency-Key is free again.',
    )
    .argument('<call>', 'the call, by its id')
    .option('--happened', 'it had its effect')
    .addOption(new Option('--did-not-happen', 'it had no effect').conflicts('happened'))
    .requiredOption('--reason <text>', 'how that was found out; at least 8 characters, kept in the audit log', reason)
    .addHelpText(
      'after',
      examples('repertoire settle 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90 --did-not-happen --reason "no such mail in the outbox"'),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string], options: SettleOptions) => {
        const happened = options.happened === true
        if (!happened && options.didNotHappen !== true)
          throw usageError('What became of the call was not said.', 'add --happened or --did-not-happen')
        const { data } = await registry().transport.send<CallRow>('POST', apiPath`/v1/calls/${id}/settle`, {
          body: { happened, reason: options.reason },
        })
        print.result(data, () => `call ${data.call_id} of ${data.skill} ${happened ? 'happened' : 'did not happen'}\n`)
      }),
    )
}
