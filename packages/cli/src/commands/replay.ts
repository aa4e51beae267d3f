import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { graceMs, longestCallMs, printCall } from '../say-call.ts'

type ReplayOptions = { readonly execute?: boolean; readonly range?: string; readonly meta?: boolean }

/** Adds `repertoire replay`. */
export function addReplay(program: Command): void {
  program
    .command('replay')
    .summary('repeat a recorded call')
    .description(
      'Shows what a recorded call would call today, with its arguments of then and your rights of now; with --execute, calls it. Only its own agent and operators may.',
    )
    .argument('<call>', 'the call, by its id')
    .option('--execute', 'call it; without this nothing is called')
    .option('--range <range>', 'another range than that of then')
    .option('--meta', 'print {data, meta} instead of the data alone')
    .addHelpText(
      'after',
      examples(
        'repertoire replay 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90',
        'repertoire replay 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90 --range ^2 --execute',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string], { execute = false, range, meta }: ReplayOptions) => {
        const answer = await registry().transport.send<unknown>('POST', apiPath`/v1/calls/${id}/replay`, {
          body: { dry_run: !execute, range },
          timeoutMs: longestCallMs + graceMs,
        })
        printCall(print, answer, meta)
        if (!execute) print.note('nothing was called; add --execute to call it')
      }),
    )
}
