import { errorCatalogue } from '@repertoire/contract/sdk'
import type { ResolvedSet } from '@repertoire/sdk'
import type { Command } from 'commander'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { exitOfStatus, type Exit } from '../exit-codes.ts'
import { readRequires } from '../skill-reference.ts'
import { layoutTable } from '../table.ts'

type Entry = ResolvedSet['resolved'][string]

/** Adds `repertoire resolve`. */
export function addResolve(program: Command): void {
  program
    .command('resolve')
    .summary('which version a range gets, and why')
    .description('Says which version each range gets for this key, all at one revision of the catalogue.')
    .argument('<skill...>', 'name or name@range, such as query-order@^1.2')
    .addHelpText(
      'after',
      examples('repertoire resolve query-order@^1.2 send-email@~1.0', "repertoire resolve 'query-order@>=1.1 <2' --json > lock.json"),
    )
    .action(
      withContext(async ({ print, registry, end }, [skills]: [string[]]) => {
        const requires = readRequires(skills)
        const data = await registry().resolve(requires)
        print.result(data, () => saySet(data, requires, print.width))
        const failed = Object.values(data.resolved).find((entry) => 'error' in entry)
        if (failed !== undefined) end(exitFor(failed))
      }),
    )
}

function saySet({ revision, resolved }: ResolvedSet, requires: Readonly<Record<string, string>>, width: number | undefined): string {
  const rows = Object.entries(resolved).map(([name, entry]) => [name, requires[name] ?? '', ...sayEntry(entry)])
  return `${layoutTable({ head: ['SKILL', 'RANGE', 'VERSION', 'VIA', 'REMARKS'], rows, overflow: 'wrap' }, width)}revision ${revision}\n`
}

function sayEntry(entry: Entry): string[] {
  if ('error' in entry)
    return ['—', entry.error.code, `${entry.error.message}${entry.error.hint === undefined ? '' : ` → ${entry.error.hint}`}`]
  return [entry.version, entry.via, entry.warnings.map((warning) => warning.message).join(' ')]
}

function exitFor(entry: Entry): Exit {
  const codes: Readonly<Record<string, { readonly status: number }>> = errorCatalogue
  return 'error' in entry ? exitOfStatus(codes[entry.error.code]?.status ?? 404) : 'ok'
}
