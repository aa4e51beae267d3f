import type { AccessExplained } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { sayExplained } from '../say-explained.ts'
import { readSkillReference } from '../skill-reference.ts'

/** Adds `repertoire explain`. */
export function addExplain(program: Command): void {
  program
    .command('explain')
    .summary('say whether an agent may call a skill, and which grant or denial decides')
    .description('Says whether an agent may call a skill, and for each tag the skill needs which grant or denial decides, by whom and why.')
    .argument('<agent>', 'the agent')
    .argument('<skill>', 'the skill, with a range if one matters: name or name@range')
    .option('--on-behalf-of <user>', 'as if it asked for this user, by its id as a registered agent')
    .addHelpText(
      'after',
      examples(
        'repertoire explain support-bot send-email',
        'repertoire explain support-bot send-email --on-behalf-of ana',
        'repertoire explain report-bot query-order@^2 --json',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [agent, reference]: [string, string], options: { readonly onBehalfOf?: string }) => {
        const { name, range } = readSkillReference(reference)
        const { data } = await registry().transport.send<AccessExplained>('GET', apiPath`/v1/agents/${agent}/explain`, {
          query: { skill: name, range, on_behalf_of: options.onBehalfOf },
        })
        print.result(data, () => sayExplained(data, print.width))
      }),
    )
}
