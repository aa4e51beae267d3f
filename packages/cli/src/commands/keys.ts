import type { CreatedKey, Key, RotatedKey } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { readAllPages } from '../pages.ts'
import { wholeNumber } from '../read-option.ts'
import { layoutTable } from '../table.ts'

const longestDays = 3650
const longestOverlapHours = 720

type RotateOptions = { readonly overlapHours?: number; readonly expiresInDays?: number }

/** Adds `repertoire keys`. */
export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .summary('make, list, rotate and revoke keys of agents')
    .description('Makes keys for agents, lists them without their secrets, rotates and revokes them.')
  keys
    .command('create')
    .description('Makes a key and prints it, this once, alone on standard output.')
    .argument('<agent>', 'the agent it is for')
    .option('--expires-in-days <days>', 'how long it is good; 90 days unless given', wholeNumber(1, longestDays))
    .addHelpText(
      'after',
      examples(
        'KEY=$(repertoire keys create support-bot --quiet)',
        '(umask 077 && repertoire keys create ci --expires-in-days 30 > ci.key)',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [agent]: [string], options: { readonly expiresInDays?: number }) => {
        const { data } = await registry().transport.send<CreatedKey>('POST', apiPath`/v1/agents/${agent}/keys`, {
          body: { expires_in_days: options.expiresInDays },
        })
        print.result(data, () => `${data.key}\n`)
        print.note(
          `key ${data.id} of ${data.agent_id}, ${data.expires_at === null ? 'without end' : `good until ${data.expires_at}`}; it is shown this once`,
        )
      }),
    )
  keys
    .command('list')
    .description('Lists the keys of an agent: never the keys, only their last four characters.')
    .argument('<agent>', 'the agent')
    .addHelpText('after', examples('repertoire keys list support-bot'))
    .action(
      withContext(async ({ print, registry }, [agent]: [string]) => {
        const list = await readAllPages<Key>(registry(), apiPath`/v1/agents/${agent}/keys`)
        print.result(list, () =>
          layoutTable(
            {
              head: ['ID', 'KIND', 'ENDS IN', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
              rows: list.items.map((key) => [
                key.id,
                key.kind,
                `…${key.tail}`,
                day(key.created_at),
                key.last_used_at === null ? 'never' : day(key.last_used_at),
                key.expires_at === null ? 'never' : day(key.expires_at),
                stateOf(key),
              ]),
            },
            print.width,
          ),
        )
      }),
    )
  keys
    .command('rotate')
    .description('Makes a key in the place of another, which stays good for a while, and prints it, this once.')
    .argument('<agent>', 'the agent')
    .argument('<key-id>', 'the id of the key, as repertoire keys list shows it')
    .option('--overlap-hours <hours>', 'how long the old one stays good; 24 unless given', wholeNumber(0, longestOverlapHours))
    .option('--expires-in-days <days>', 'how long the new one is good; 90 days unless given', wholeNumber(1, longestDays))
    .addHelpText('after', examples('KEY=$(repertoire keys rotate support-bot 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90 --quiet)'))
    .action(
      withContext(async ({ print, registry }, [agent, keyId]: [string, string], options: RotateOptions) => {
        const { data } = await registry().transport.send<RotatedKey>('POST', apiPath`/v1/agents/${agent}/keys/${keyId}/rotate`, {
          body: { overlap_hours: options.overlapHours, expires_in_days: options.expiresInDays },
        })
        print.result(data, () => `${data.key}\n`)
        print.note(
          `key ${data.id} takes the place of ${data.replaces.id}, which is good until ${data.replaces.expires_at}; it is shown this once`,
        )
      }),
    )
  keys
    .command('revoke')
    .description('Revokes a key: the next request that shows it is refused.')
    .argument('<agent>', 'the agent')
    .argument('<key-id>', 'the id of the key, as repertoire keys list shows it')
    .addHelpText('after', examples('repertoire keys revoke support-bot 0198c6d2-7d1e-7a3f-9d55-3f1b6a7c8d90'))
    .action(
      withContext(async ({ print, registry }, [agent, keyId]: [string, string]) => {
        const { data } = await registry().transport.send<{ id: string; removed: boolean }>(
          'DELETE',
          apiPath`/v1/agents/${agent}/keys/${keyId}`,
        )
        print.result(data, () => `key ${data.id} of ${agent} is revoked\n`)
      }),
    )
}

function stateOf(key: Key): string {
  if (key.revoked_at !== null) return `revoked ${day(key.revoked_at)}`
  return key.rotated_to === null ? '' : `rotated to ${key.rotated_to}`
}

function day(time: string): string {
  return time.slice(0, 10)
}
