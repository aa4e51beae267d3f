import type { Dependents } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { count } from '../say-count.ts'
import { sayTime } from '../say-time.ts'
import { layoutTable } from '../table.ts'

const mostDays = 90

/** Adds `repertoire dependents`. */
export function addDependents(program: Command): void {
  program
    .command('dependents')
    .summary('who works with a skill, by which range, and what each gets')
    .description(
      'Lists who depends on a skill: every range an agent declared, and every range it called with lately, each with the version it gets now and the calls it made.',
    )
    .argument('<name>', 'the skill')
    .option('--days <days>', 'how many days of calls count', wholeNumber(1, mostDays), 7)
    .addHelpText('after', examples('repertoire dependents query-order', 'repertoire dependents query-order --days 30 --json'))
    .action(
      withContext(async ({ print, registry }, [name]: [string], options: { readonly days: number }) => {
        const { data } = await registry().transport.send<Dependents>('GET', apiPath`/v1/skills/${name}/dependents`, {
          query: { days: options.days },
        })
        print.result(data, () => (data.items.length === 0 ? '' : sayDependents(data, print.width)))
        if (data.items.length === 0) print.note(`nobody declared a range of ${data.skill}, or called it in ${count(data.days, 'day')}`)
      }),
    )
}

function sayDependents({ items, days }: Dependents, width: number | undefined): string {
  return layoutTable(
    {
      head: ['AGENT', 'INSTANCE', 'RANGE', 'GETS', `CALLS IN ${count(days, 'DAY', 'DAYS')}`, 'LAST CALL (UTC)', 'REMARKS'],
      rows: items.map((item) => [
        item.agent,
        item.instance ?? '(calls only)',
        item.range,
        item.version === null ? 'nothing' : `${item.version} (${item.via ?? ''})`,
        String(item.calls),
        item.last_call_at === null ? '' : sayTime(item.last_call_at, ''),
        [item.problem ?? '', item.status === null || item.status === 'released' ? '' : item.status, sayVersions(item.versions)]
          .filter((part) => part !== '')
          .join('; '),
      ]),
      overflow: 'wrap',
    },
    width,
  )
}

function sayVersions(versions: Readonly<Record<string, number>>): string {
  const parts = Object.entries(versions).map(([version, calls]) => `${version} × ${calls}`)
  return parts.length === 0 ? '' : `called ${parts.join(', ')}`
}
