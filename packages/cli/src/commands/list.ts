import type { SkillListItem } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { safeJson } from '../safe-text.ts'
import { layoutPairs, layoutTable } from '../table.ts'

type View = 'names' | 'summary' | 'full'

/** Adds `repertoire list`. */
export function addList(program: Command): void {
  program
    .command('list')
    .summary('the skills this key may use')
    .description('Lists the skills the caller may use, each with the version it would get. Operators, auditors and admins see all of them.')
    .addOption(new Option('--view <view>', 'how much of each').choices(['names', 'summary', 'full']).default('summary'))
    .option('--domain <domain>', 'only this domain; * for every domain')
    .addHelpText('after', examples('repertoire list', 'repertoire list --view names', 'repertoire list --domain orders --json'))
    .action(
      withContext(async ({ print, registry }, _args: [], options: { readonly view: View; readonly domain?: string }) => {
        const items = await registry().list({ view: options.view, ...(options.domain === undefined ? {} : { domain: options.domain }) })
        print.result({ items, next_cursor: null }, () => sayList(items, options.view, print.width))
        if (items.length === 0) print.note('no skill is here for this key; repertoire self shows what it holds')
      }),
    )
}

function sayList(items: readonly SkillListItem[], view: View, width: number | undefined): string {
  if (items.length === 0) return ''
  if (view === 'names') return items.map((item) => `${item.name}\n`).join('')
  if (view === 'full') return items.map(sayFully).join('\n')
  return layoutTable(
    {
      head: ['NAME', 'VERSION', 'STATUS', 'KIND', 'NEEDS', 'DESCRIPTION'],
      rows: items.map((item) => [
        item.name,
        item.version ?? '',
        item.status ?? '',
        item.kind,
        item.permission?.join(' ') ?? '',
        item.summary ?? item.description,
      ]),
      narrow: 'lines',
    },
    width,
  )
}

function sayFully(item: SkillListItem): string {
  return layoutPairs([
    ['name', item.name],
    ['version', `${item.version ?? ''} (${item.status ?? ''}${item.via === null ? '' : `, ${item.via}`})`],
    ['kind', item.kind],
    ['description', item.description],
    ['when to use', item.when_to_use],
    ['when not', item.when_not_to_use],
    ['domain', item.domain],
    ['needs', item.permission?.join(', ')],
    ['tags', item.tags?.join(', ')],
    ['effects', item.effects],
    ['input', item.input_schema === undefined ? undefined : safeJson(item.input_schema, 0)],
    ['output', item.output_schema === undefined || item.output_schema === null ? undefined : safeJson(item.output_schema, 0)],
    ['warnings', item.warnings?.map((warning) => warning.message).join(' ')],
  ])
}
