import type { RefusalStats } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { addWindow, windowQuery, type CallWindow } from '../call-filters.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { sayRefusals } from '../say-stats.ts'

type Options = CallWindow & {
  readonly by?: string
  readonly interval?: string
  readonly agent?: string
  readonly code?: string
  readonly limit?: number
}

/** Adds `repertoire stats refusals`. */
export function addRefusals(stats: Command): void {
  const command = stats
    .command('refusals')
    .description('Counts requests that were turned away with 401, 429 or 503, which leave no row: who, why, and when with --interval.')
  addWindow(command)
    .option('--by <names>', 'agent, code, or both, separated by a comma', 'agent,code')
    .addOption(new Option('--interval <interval>', 'a series').choices(['minute', 'hour', 'day']))
    .option('--agent <id>', 'only this agent')
    .option('--code <code>', 'only this code, as RATE_LIMITED')
    .option('--limit <rows>', 'how many rows', wholeNumber(1, 5000), 100)
    .addHelpText('after', examples('repertoire stats refusals --since 1h --interval minute', 'repertoire stats refusals --by code'))
    .action(
      withContext(async ({ print, registry }, _: [], options: Options) => {
        const { by, interval, agent, code, limit } = options
        const query = { ...windowQuery(options, Date.now()), group_by: by, interval, agent, code, limit }
        const { data } = await registry().transport.send<RefusalStats>('GET', '/v1/stats/refusals', { query })
        print.result(data, () => sayRefusals(data, print.width))
        if (data.items.length === 0) print.note('nobody was turned away in that window')
        if (data.cut) print.note('there are more: narrow it, or raise --limit')
      }),
    )
}
