import type { AuditEntry, AuditVerified } from '@repertoire/sdk'
import type { Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { sayTime } from '../say-time.ts'
import { wholeNumber } from '../read-option.ts'
import { layoutTable } from '../table.ts'

type ListOptions = { readonly caller?: string; readonly action?: string; readonly skill?: string; readonly limit?: number }

const mostItems = 200

/** Adds `repertoire audit`. */
export function addAudit(program: Command): void {
  const audit = program
    .command('audit')
    .summary('who changed what and why, and whether the log of it is whole')
    .description('Lists what was changed, by whom and why, and verifies that nothing in that log was edited, removed or moved.')
  audit
    .command('list')
    .description('Lists the changes of the last week, newest first.')
    .option('--caller <id>', 'only what this one did')
    .option('--action <action>', 'only this action, such as version.release or grant.create')
    .option('--skill <name>', 'only what was done to this skill')
    .option('--limit <count>', 'how many; 50 unless given', wholeNumber(1, mostItems))
    .addHelpText('after', examples('repertoire audit list --skill query-order', 'repertoire audit list --action rollout.rollback --json'))
    .action(
      withContext(async ({ print, registry }, _: [], options: ListOptions) => {
        const { data } = await registry().transport.send<{ items: AuditEntry[] }>('GET', '/v1/audit', {
          query: { caller: options.caller, action: options.action, skill: options.skill, limit: options.limit ?? 50 },
        })
        print.result(data, () =>
          layoutTable(
            {
              head: ['WHEN (UTC)', 'CALLER', 'ACTION', 'SUBJECT', 'REASON'],
              rows: data.items.map((item) => [sayTime(item.at, ''), item.caller, item.action, item.subject, item.reason ?? '']),
            },
            print.width,
          ),
        )
      }),
    )
  audit
    .command('verify')
    .description(
      'Follows the chain of the audit log from its first event to its last; where it breaks, the command fails and names the event.',
    )
    .addHelpText('after', examples('repertoire audit verify', 'repertoire audit verify --json'))
    .action(
      withContext(async ({ print, registry, end }) => {
        const { data } = await registry().transport.send<AuditVerified>('GET', '/v1/audit/verify', { timeoutMs: 120_000 })
        print.result(data, () => sayVerdict(data))
        if (!data.ok) end('conflict')
      }),
    )
}

function sayVerdict({ ok, rows, unverifiable, tail_checked: isTailChecked, first_bad: bad }: AuditVerified): string {
  if (!ok || bad !== null) return `the audit log is not as it was written: event ${bad?.seq ?? '?'}: ${bad?.problem ?? 'unknown'}\n`
  const older = unverifiable === 0 ? '' : `; ${unverifiable} of them are older than the chain or the install secret`
  const tail = isTailChecked ? '' : '; this replica has appended or heard of none, and cannot tell whether the last ones are missing'
  return `${rows} events, each as it was written${older}${tail}\n`
}
