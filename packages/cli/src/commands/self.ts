import type { Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { layoutPairs } from '../table.ts'

/** Adds `repertoire self`. */
export function addSelf(program: Command): void {
  program
    .command('self')
    .summary('who this key is, and what it holds')
    .description('Shows who the key belongs to, what it holds and is denied, and the ranges its instances declared.')
    .addHelpText('after', examples('repertoire self', 'REPERTOIRE_KEY_FILE=bot.key repertoire self --json'))
    .action(
      withContext(async ({ print, registry }) => {
        const self = await registry().self()
        print.result(self, () =>
          layoutPairs([
            ['agent', self.id],
            ['role', self.role],
            ['tenant', self.tenant ?? undefined],
            ['domains', self.domains.join(', ') || 'all'],
            ...self.grants.map(
              (grant) =>
                [
                  grant.deny ? 'denied' : 'holds',
                  `${grant.pattern}${grant.expires_at === null ? '' : ` until ${grant.expires_at}`}`,
                ] as const,
            ),
            ...Object.entries(self.requirements).map(
              ([instance, ranges]) =>
                [
                  `requires`,
                  `${Object.entries(ranges)
                    .map(([name, range]) => `${name}@${range}`)
                    .join(', ')} (instance ${instance})`,
                ] as const,
            ),
            ...self.quotas.flatMap(({ skill, minute, day }) =>
              [minute, day].flatMap((use) =>
                use === null
                  ? []
                  : [
                      [
                        use === minute ? 'a minute' : 'a day',
                        `${use.used} of ${use.limit} calls${skill === null ? '' : ` of ${skill}`}`,
                      ] as const,
                    ],
              ),
            ),
          ]),
        )
      }),
    )
}
