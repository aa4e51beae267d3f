import { errorCatalogue } from '@repertoire/contract/sdk'
import type { ResolutionAt, ResolvedSet } from '@repertoire/sdk'
import type { Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { usageError } from '../command-error.ts'
import { withContext, type Context } from '../context.ts'
import { examples } from '../examples.ts'
import { exitOfStatus, type Exit } from '../exit-codes.ts'
import { moment } from '../read-option.ts'
import { sayResolutionAt } from '../say-resolution-at.ts'
import { readRequires, readSkillReference } from '../skill-reference.ts'
import { layoutTable } from '../table.ts'

type Entry = ResolvedSet['resolved'][string]
type ResolveOptions = { readonly agent?: string; readonly at?: string }

/** Adds `repertoire resolve`. */
export function addResolve(program: Command): void {
  program
    .command('resolve')
    .summary('which version a range gets, and why')
    .description(
      'Says which version each range gets for this key, all at one revision of the catalogue. With --agent, says what that agent gets of one skill, or would have got at a time: by the range given and the one it had declared.',
    )
    .argument('<skill...>', 'name or name@range, such as query-order@^1.2; with --agent, one name and a range')
    .option('--agent <id>', 'for this agent')
    .option('--at <time>', 'as it was at this time, such as 2026-03-01T12:00:00Z', moment)
    .addHelpText(
      'after',
      examples(
        'repertoire resolve query-order@^1.2 send-email@~1.0',
        "repertoire resolve 'query-order@>=1.1 <2' --json > lock.json",
        'repertoire resolve --agent desk-bot --at 2026-03-01T12:00:00Z query-order ^1',
      ),
    )
    .action(
      withContext(async (context, [skills]: [string[]], options: ResolveOptions) => {
        const { print, registry, end } = context
        if (options.agent !== undefined) return resolveFor(context, skills, { agent: options.agent, at: options.at })
        if (options.at !== undefined) throw usageError('--at asks about one agent.', 'add --agent')
        const requires = readRequires(skills)
        const data = await registry().resolve(requires)
        print.result(data, () => saySet(data, requires, print.width))
        const failed = Object.values(data.resolved).find((entry) => 'error' in entry)
        if (failed !== undefined && 'error' in failed) end(exitFor(failed.error.code))
      }),
    )
}

type For = { readonly agent: string; readonly at: string | undefined }

async function resolveFor({ print, registry, end }: Context, skills: readonly string[], { agent, at }: For): Promise<void> {
  const [skill = '', ...ranges] = skills
  const reference = readSkillReference(skill)
  const [range = reference.range] = ranges
  if (ranges.length + (reference.range === undefined ? 0 : 1) > 1)
    throw usageError('With --agent, one skill is asked about.', 'write one name, and at most one range')
  const { data } = await registry().transport.send<ResolutionAt>('GET', apiPath`/v1/skills/${reference.name}/resolution`, {
    query: { agent, at, range },
  })
  print.result(data, () => sayResolutionAt(data))
  if (data.problem !== null) end(exitFor(data.problem.code))
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

function exitFor(code: string): Exit {
  const codes: Readonly<Record<string, { readonly status: number }>> = errorCatalogue
  return exitOfStatus(codes[code]?.status ?? 404)
}
