import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { moment, reason } from '../read-option.ts'
import { sendGrant } from '../send-grant.ts'

type GrantOptions = { readonly reason: string; readonly expiresAt?: string; readonly acceptRisk?: boolean }

const kinds = [
  {
    verb: 'grant',
    deny: false,
    summary: 'let an agent use what needs a tag',
    description:
      'Lets an agent use the skills that require a permission tag. A pattern such as orders:* covers what lies below it, but never a tag of high risk (exec, fs:write, secrets, payments, smtp, network): name those.',
    example: 'repertoire grant support-bot orders:read --reason "answers questions about orders"',
  },
  {
    verb: 'deny',
    deny: true,
    summary: 'keep an agent from what needs a tag',
    description: 'Denies an agent a permission tag or pattern. A denial beats every grant.',
    example: 'repertoire deny support-bot \'payments:*\' --reason "never moves money"',
  },
]

/** Adds `repertoire grant` and `repertoire deny`: the same act with the opposite sign. */
export function addGrant(program: Command): void {
  for (const { verb, deny, summary, description, example } of kinds) {
    const command = program
      .command(verb)
      .summary(summary)
      .description(description)
      .argument('<agent>', 'the agent')
      .argument('<pattern>', 'a tag such as orders:read, or a pattern such as orders:*')
      .requiredOption('--reason <text>', 'why; at least 8 characters, kept in the audit log', reason)
      .option('--expires-at <time>', 'when it ends by itself, such as 2026-12-31 or 2026-12-31T18:00:00Z', moment)
      .addHelpText('after', examples(example))
    if (!deny)
      command.option('--accept-risk', 'give it even if the agent then holds private data, untrusted content and a way out, all at once')
    command.action(
      withContext(async (context, [agent, pattern]: [string, string], options: GrantOptions) => {
        const { print } = context
        const path = apiPath`/v1/agents/${agent}/grants`
        const body = { pattern, reason: options.reason, deny, expires_at: options.expiresAt, accept_risk: options.acceptRisk }
        const { data, meta } = await sendGrant(context, path, body)
        for (const { message } of meta.warnings) print.note(`warning: ${message}`)
        print.result(
          data,
          () =>
            `${data.agent_id} ${data.deny ? 'is denied' : 'holds'} ${data.pattern}${data.expires_at === null ? '' : ` until ${data.expires_at}`}\n${data.deny ? 'denial' : 'grant'} ${data.id}\n`,
        )
      }),
    )
  }
}
