import type { Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { findRollout, isRolloutId, requireSkill, rolloutsOf } from '../find-rollout.ts'
import { sayRollout, sayRollouts } from '../say-rollout.ts'

/** Adds `repertoire canary status`. */
export function addCanaryStatus(canary: Command): void {
  canary
    .command('status')
    .description(
      'Lists the active rollouts, newest first; with the name of a skill, all of that skill, and the active ones in full. With an id or name@version, shows one: where it stands, its next move, and what is possible now.',
    )
    .argument('[rollout]', 'a skill, or one rollout by its id or as name@version')
    .option('--all', 'list those that have ended too')
    .addHelpText(
      'after',
      examples(
        'repertoire canary status',
        'repertoire canary status query-order',
        'repertoire canary status query-order@1.2.0 --json | jq -r .state',
      ),
    )
    .action(
      withContext(async ({ print, registry }, [text]: [string | undefined], options: { readonly all?: boolean }) => {
        if (text !== undefined && (isRolloutId(text) || text.includes('@'))) {
          const rollout = await findRollout(registry(), text, true)
          print.result(rollout, () => sayRollout(rollout, Date.now()))
          return
        }
        const isWhole = options.all === true || text !== undefined
        const items = await rolloutsOf(registry(), text, isWhole ? undefined : 'active')
        if (text !== undefined && items.length === 0) await requireSkill(registry(), text)
        const details = text === undefined ? [] : items.filter(({ ended_at: endedAt }) => endedAt === null)
        print.result({ items, next_cursor: null }, () =>
          items.length === 0 ? '' : [sayRollouts(items, print.width), ...details.map((item) => sayRollout(item, Date.now()))].join('\n'),
        )
        if (items.length === 0)
          print.note(
            isWhole
              ? `there is no rollout${text === undefined ? '' : ` of ${text}`}`
              : 'no rollout is active; --all lists those that ended',
          )
      }),
    )
}
