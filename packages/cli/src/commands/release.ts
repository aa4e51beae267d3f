import type { LineChanged } from '@repertoire/sdk'
import type { Command } from 'commander'
import { reason } from '../read-option.ts'
import { apiPath } from '../api-path.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'

/** Adds `repertoire release`. */
export function addRelease(program: Command): void {
  program
    .command('release')
    .summary('release a candidate, so that ranges may choose it')
    .description('Releases a candidate. When it is the newest of its line, the line serves it to everybody, at once and on every replica.')
    .argument('<name>', 'the skill')
    .argument('<version>', 'the exact version')
    .requiredOption('--reason <text>', 'why now; at least 8 characters, kept in the audit log', reason)
    .addHelpText('after', examples('repertoire release query-order 1.1.0 --reason "checked by the orders team"'))
    .action(
      withContext(async ({ print, registry }, [name, version]: [string, string], options: { readonly reason: string }) => {
        const { data } = await registry().transport.send<LineChanged>('POST', apiPath`/v1/skills/${name}/versions/${version}/release`, {
          body: { reason: options.reason },
          headers: { 'if-match': '*' },
        })
        print.result(data, () => sayReleased(data))
      }),
    )
}

function sayReleased({ name, version, line, status, stable, previous_stable: before, changed }: LineChanged): string {
  const head = changed ? `${name} ${version} is ${status} now` : `${name} ${version} was ${status} already`
  const serves = stable === null ? `line ${line} serves nothing` : `line ${line} serves ${stable}`
  return `${head}; ${serves}${before === null || before === stable ? '' : ` (before: ${before})`}\n`
}
