import type { Quota } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { usageError } from '../command-error.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { readAllPages } from '../pages.ts'
import { reason, wholeNumber } from '../read-option.ts'
import { layoutTable } from '../table.ts'

type CreateOptions = {
  readonly agent?: string
  readonly skill?: string
  readonly connection?: string
  readonly perMinute?: number
  readonly perDay?: number
  readonly reason: string
}

const mostCalls = 100_000_000

/** Adds `repertoire quotas`. */
export function addQuotas(program: Command): void {
  const quotas = program
    .command('quotas')
    .summary('limit how often skills are called')
    .description('Limits calls by the minute and by the day, over all replicas together.')
  quotas
    .command('create')
    .description(
      'Limits calls of an agent, of a skill, of an agent to a skill, or over a connection. A window is a minute or a day of UTC.',
    )
    .option('--agent <agent>', 'the calls of this agent')
    .option('--skill <name>', 'the calls of this skill')
    .option('--connection <name>', 'the calls over this connection')
    .option('--per-minute <calls>', 'how many in a minute', wholeNumber(1, mostCalls))
    .option('--per-day <calls>', 'how many on a day', wholeNumber(1, mostCalls))
    .requiredOption('--reason <text>', 'why; at least 8 characters, kept in the audit log', reason)
    .addHelpText(
      'after',
      examples(
        'repertoire quotas create --agent report-bot --skill send-email --per-day 200 --reason "no flood of mail"',
        'repertoire quotas create --connection orders --per-minute 600 --reason "what the shop can take"',
      ),
    )
    .action(
      withContext(async ({ print, registry }, _: [], options: CreateOptions) => {
        const { agent, skill, connection, perMinute, perDay } = options
        if ((connection === undefined) === (agent === undefined && skill === undefined))
          throw usageError('A quota is about an agent, a skill, both, or a connection.', 'add --agent, --skill, or --connection')
        if (perMinute === undefined && perDay === undefined)
          throw usageError('A quota needs a number.', 'add --per-minute, --per-day, or both')
        const body = { agent, skill, connection, per_minute: perMinute, per_day: perDay, reason: options.reason }
        const { data } = await registry().transport.send<Quota>('POST', '/v1/quotas', { body })
        print.result(data, () => sayTable([data], print.width))
      }),
    )
  quotas
    .command('list')
    .description('Lists the limits on calls, with who set them and why.')
    .addHelpText('after', examples('repertoire quotas list'))
    .action(
      withContext(async ({ print, registry }) => {
        const list = await readAllPages<Quota>(registry(), '/v1/quotas')
        print.result(list, () => (list.items.length === 0 ? '' : sayTable(list.items, print.width)))
        if (list.items.length === 0) print.note('no quota is set')
      }),
    )
  quotas
    .command('remove')
    .description('Removes a limit on calls, at once.')
    .argument('<id>', 'the quota, by its id')
    .addHelpText('after', examples('repertoire quotas remove 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90'))
    .action(
      withContext(async ({ print, registry }, [id]: [string]) => {
        const { data } = await registry().transport.send<{ id: string; removed: boolean }>('DELETE', apiPath`/v1/quotas/${id}`)
        print.result(data, () => `quota ${data.id} is removed\n`)
      }),
    )
}

function sayTable(quotas: readonly Quota[], width: number | undefined): string {
  return layoutTable(
    {
      head: ['ID', 'CALLS OF', 'A MINUTE', 'A DAY', 'BY', 'SINCE', 'REASON'],
      rows: quotas.map((quota) => [
        quota.id,
        sayTarget(quota),
        String(quota.per_minute ?? ''),
        String(quota.per_day ?? ''),
        quota.created_by,
        quota.created_at.slice(0, 10),
        quota.reason,
      ]),
      overflow: 'wrap',
    },
    width,
  )
}

function sayTarget({ agent, skill, connection }: Quota): string {
  if (connection !== null) return `connection ${connection}`
  if (agent !== null && skill !== null) return `${agent} to ${skill}`
  return agent ?? `skill ${skill ?? ''}`
}
