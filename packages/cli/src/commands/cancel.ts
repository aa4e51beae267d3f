import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'

/** Adds `repertoire cancel`. */
export function addCancel(program: Command): void {
  program
    .command('cancel')
    .summary('end a call in the background')
    .description(
      'Asks whoever carries out a call in the background to end it, which takes up to a second. Its own agent and operators may.',
    )
    .argument('<call>', 'the call, by its id')
    .addHelpText('after', examples('repertoire cancel 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90'))
    .action(
      withContext(async ({ print, registry }, [id]: [string]) => {
        const { data } = await registry().transport.send<{ readonly call_id: string }>('POST', apiPath`/v1/calls/${id}/cancel`, {
          body: {},
        })
        print.result(data, () => `call ${data.call_id} is asked to end\n`)
      }),
    )
}
