import type { CallList, CallRow } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { callsQuery, type CallsOptions } from '../calls-query.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { moment, span, wholeNumber } from '../read-option.ts'
import { safeJson } from '../safe-text.ts'
import { layoutPairs, layoutTable } from '../table.ts'

const outcomes = [
  'ok',
  'skill_error',
  'invalid_input',
  'denied',
  'not_resolved',
  'executor_error',
  'output_mismatch',
  'timeout',
  'busy',
  'cancelled',
  'unknown',
  'registry_error',
]

/** Adds `repertoire calls`. */
export function addCalls(program: Command): void {
  program
    .command('calls')
    .summary('the call log: who called what, which version, and what came back')
    .description(
      'Lists the call log, newest first: the last 24 hours unless told. An agent sees its own rows. With an id, shows one row whole.',
    )
    .argument('[id]', 'one call, by its id')
    .option('--skill <name>', 'only this skill')
    .option('--skill-version <version>', 'only this version')
    .option('--agent <id>', 'only this agent')
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(outcomes))
    .option('--error-code <code>', 'only this error code')
    .addOption(new Option('--via <via>', 'only versions chosen this way').choices(['pinned', 'stable', 'canary', 'allow', 'session']))
    .option('--rollout <id>', 'only calls a rollout decided')
    .option('--session <id>', 'only this session')
    .option('--trace <id>', 'only this trace')
    .option('--min-duration-ms <ms>', 'only calls that took at least so long', wholeNumber(0))
    .option('--from <time>', 'from this time on', moment)
    .option('--to <time>', 'before this time', moment)
    .addOption(new Option('--since <span>', 'the last 90s, 15m, 1h or 7d').argParser(span).conflicts(['from', 'to']))
    .option('--limit <rows>', 'how many rows', wholeNumber(1, 200), 50)
    .option('--cursor <cursor>', 'go on where an earlier page ended')
    .addHelpText(
      'after',
      examples(
        'repertoire calls --since 1h --outcome executor_error',
        'repertoire calls --skill query-order --agent support-bot --json',
        'repertoire calls 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [id]: [string | undefined], options: CallsOptions) => {
        if (id !== undefined) {
          const { data } = await registry().transport.send<CallRow>('GET', apiPath`/v1/calls/${id}`)
          print.result(data, () => sayRow(data))
          return
        }
        const { data } = await registry().transport.send<CallList>('GET', '/v1/calls', { query: callsQuery(options, Date.now()) })
        print.result(data, () => (data.items.length === 0 ? '' : sayTable(data.items, print.width)))
        if (data.items.length === 0) print.note('no call in that window')
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
