import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'

/** Adds `repertoire revoke`. */
export function addRevoke(program: Command): void {
  program
    .command('revoke')
    .summary('take a grant or a denial back')
    .description('Takes a grant or a denial back; the next request of the agent is judged without it.')
    .argument('<agent>', 'the agent')
    .argument('<grant-id>', 'the id, as repertoire grants shows it')
    .addHelpText('after', examples('repertoire revoke support-bot 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90'))
    .action(
      withContext(async ({ print, registry }, [agent, grantId]: [string, string]) => {
        const { data, meta } = await registry().transport.send<{ id: string; removed: boolean }>(
          'DELETE',
          apiPath`/v1/agents/${agent}/grants/${grantId}`,
        )
        for (const { message } of meta.warnings) print.note(`warning: ${message}`)
        print.result(data, () => `${data.id} of ${agent} is taken back\n`)
      }),
    )
}
