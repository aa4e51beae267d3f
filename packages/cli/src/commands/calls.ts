import type { CallList, CallRow } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { addFilters, addWindow, filtersQuery, windowQuery, type CallFilters, type CallWindow } from '../call-filters.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { wholeNumber } from '../read-option.ts'
import { safeJson } from '../safe-text.ts'
import { layoutPairs, layoutTable } from '../table.ts'

type Options = CallFilters & CallWindow & { readonly limit: number; readonly cursor?: string }

/** Adds `repertoire calls`. */
export function addCalls(program: Command): void {
  const calls = program
    .command('calls')
    .summary('the call log: who called what, which version, and what came back')
    .description(
      'Lists the call log, newest first: the last 24 hours unless told. An agent sees its own rows. With an id, shows one row whole.',
    )
    .argument('[id]', 'one call, by its id')
  addWindow(addFilters(calls))
    .option('--limit <rows>', 'how many rows', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on where an earlier page ended')
    .addHelpText(
      'after',
      examples(
        'repertoire calls --since 1h --outcome executor_error',
        'repertoire calls --skill query-order --since 7d --text 71781 --json',
        'repertoire calls 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string | undefined], { limit, cursor, ...options }: Options) => {
        if (id !== undefined) {
          const { data } = await registry().transport.send<CallRow>('GET', apiPath`/v1/calls/${id}`)
          print.result(data, () => sayRow(data))
          return
        }
        const query = { ...filtersQuery(options), ...windowQuery(options, Date.now()), limit, cursor }
        const { data, meta } = await registry().transport.send<CallList>('GET', '/v1/calls', { query })
        print.result(data, () => (data.items.length === 0 ? '' : sayTable(data.items, print.width)))
        for (const { message } of meta.warnings) print.note(message)
        if (data.items.length === 0 && data.next_cursor === null) print.note('no call in that window')
        if (data.next_cursor !== null) print.note(`there are more: add --cursor ${data.next_cursor}`)
      }),
    )
}

function sayTable(rows: readonly CallRow[], width: number | undefined): string {
  return layoutTable(
    {
      head: ['TIME (UTC)', 'CALL', 'AGENT', 'SKILL', 'VIA', 'OUTCOME', 'MS', 'ERROR'],
      rows: rows.map((row) => [
        row.ts.slice(0, 19).replace('T', ' '),
        row.call_id,
        row.agent_id,
        `${row.skill}${row.version === null ? '' : `@${row.version}`}`,
        row.via ?? '',
        `${row.outcome}${row.dry_run ? ' (dry run)' : ''}`,
        String(Math.round(row.total_ms)),
        row.error_code ?? '',
      ]),
    },
    width,
  )
}

function sayRow(row: CallRow): string {
  return layoutPairs(
    Object.entries(row).map(
      ([name, value]) =>
        [name, value === null || value === undefined ? undefined : typeof value === 'object' ? safeJson(value, 0) : String(value)] as const,
    ),
  )
}
