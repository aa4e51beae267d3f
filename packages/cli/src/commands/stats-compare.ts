import type { Comparison } from '@repertoire/sdk'
import type { Command } from 'commander'
import { addWindow, windowQuery, type CallWindow } from '../call-filters.ts'
import { usageError } from '../command-error.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { findRollout, rolloutArgument } from '../find-rollout.ts'
import { sayComparison } from '../say-stats.ts'

/** Adds `repertoire stats compare`. */
export function addCompare(stats: Command): void {
  const command = stats
    .command('compare')
    .description(
      'Compares a rollout’s candidate with what the line served, counted at the unit that was randomised; or two versions of a skill, by the agents that called them.',
    )
    .argument('<what>', `the rollout: ${rolloutArgument}; or a skill, with two versions behind it`)
    .argument('[a]', 'the version that is compared with')
    .argument('[b]', 'the version that is judged')
  addWindow(command)
    .addHelpText('after', examples('repertoire stats compare query-order', 'repertoire stats compare query-order 1.0.0 1.1.0 --since 7d'))
    .action(
      withContext(async ({ print, registry }, [what, a, b]: [string, string | undefined, string | undefined], options: CallWindow) => {
        const isOfWindow = options.from !== undefined || options.to !== undefined || options.since !== undefined
        if ((a === undefined) !== (b === undefined)) throw usageError('Two versions are compared.', 'give both, or neither for a rollout')
        if (a === undefined && isOfWindow) throw usageError('A rollout is compared over all of its time.', 'leave the window out')
        const query =
          a === undefined
            ? { rollout: (await findRollout(registry(), what, true)).id }
            : { skill: what, a, b, ...windowQuery(options, Date.now()) }
        const { data } = await registry().transport.send<Comparison>('GET', '/v1/stats/compare', { query })
        print.result(data, () => sayComparison(data, print.width))
      }),
    )
}
