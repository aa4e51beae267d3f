import type { Grant } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { readAllPages } from '../pages.ts'
import { layoutTable } from '../table.ts'

/** Adds `repertoire grants`. */
export function addGrants(program: Command): void {
  program
    .command('grants')
    .summary('what an agent holds and is denied')
    .description('Lists the grants and denials of an agent, with who gave them and why.')
    .argument('<agent>', 'the agent')
    .addHelpText('after', examples('repertoire grants support-bot'))
    .action(
      withContext(async ({ print, registry }, [agent]: [string]) => {
        const list = await readAllPages<Grant>(registry(), apiPath`/v1/agents/${agent}/grants`)
        print.result(list, () =>
          layoutTable(
            {
              head: ['ID', 'KIND', 'PATTERN', 'BY', 'SINCE', 'UNTIL', 'REASON'],
              rows: list.items.map((grant) => [
                grant.id,
                grant.deny ? 'deny' : 'grant',
                grant.pattern,
                grant.granted_by,
                grant.created_at.slice(0, 10),
                grant.expires_at?.slice(0, 10) ?? '',
                grant.reason,
              ]),
              overflow: 'wrap',
            },
            print.width,
          ),
        )
      }),
    )
}
