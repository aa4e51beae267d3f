import { RepertoireError, type Repertoire, type SkillDetail, type VersionList } from '@repertoire/sdk'
import { Option, type Command } from 'commander'
import { apiPath } from '../api-path.ts'
import { withContext, type Context } from '../context.ts'
import { examples } from '../examples.ts'
import { safeJson } from '../safe-text.ts'
import { saySkill } from '../say-skill.ts'
import { sayTime } from '../say-time.ts'
import { readSkillReference } from '../skill-reference.ts'
import { layoutTable } from '../table.ts'

type ShowOptions = { readonly range?: string; readonly versions?: boolean; readonly schema?: boolean }

/** Adds `repertoire show`. */
export function addShow(program: Command): void {
  program
    .command('show')
    .summary('one skill: what it does, needs and takes')
    .description(
      'Shows one skill as this key gets it: manifest, instructions, files, and why this version. Where nothing is released yet, whoever may see candidates is shown the newest version.',
    )
    .argument('<name>', 'the skill, or name@range')
    .addOption(new Option('--range <range>', 'the range to resolve').conflicts('versions'))
    .addOption(new Option('--versions', 'list its versions instead').conflicts('schema'))
    .option('--schema', 'print its schemas alone, as JSON')
    .addHelpText(
      'after',
      examples(
        'repertoire show query-order',
        'repertoire show query-order --range 1.0.0 --schema',
        'repertoire show query-order --versions',
      ),
    )
    .action(
      withContext(async (context, [text]: [string], options: ShowOptions) => {
        const { print } = context
        const reference = readSkillReference(text)
        const registry = context.registry()
        if (options.versions === true) {
          const list = await listVersions(registry, reference.name)
          print.result(list, () => sayVersions(list, print.width))
          return
        }
        const detail = await describe(context, registry, { name: reference.name, range: options.range ?? reference.range })
        const schemas = { input_schema: detail.input_schema, output_schema: detail.output_schema }
        if (options.schema === true) print.result(schemas, () => safeJson(schemas))
        else print.result(detail, () => saySkill(detail))
      }),
    )
}

async function listVersions(registry: Repertoire, name: string): Promise<VersionList> {
  return (await registry.transport.send<VersionList>('GET', apiPath`/v1/skills/${name}/versions`)).data
}

type Asked = { readonly name: string; readonly range: string | undefined }

async function describe({ print }: Context, registry: Repertoire, { name, range }: Asked): Promise<SkillDetail> {
  try {
    return (await registry.transport.send<SkillDetail>('GET', apiPath`/v1/skills/${name}`, { query: { range } })).data
  } catch (error) {
    if (range !== undefined || !(error instanceof RepertoireError) || error.code !== 'NO_MATCHING_VERSION') throw error
    const newest = (await listVersions(registry, name)).items[0]
    if (newest === undefined) throw error
    const { data } = await registry.transport.send<SkillDetail>('GET', apiPath`/v1/skills/${name}/versions/${newest.version}`)
    print.note(
      `no range gets ${name}: ${error.hint ?? 'nothing of it is released'}; this is its newest version, ${newest.version} (${newest.status})`,
    )
    return data
  }
}

function sayVersions({ items }: VersionList, width: number | undefined): string {
  const rows = items.map((item) => [
    item.version,
    item.status,
    item.stable ? `serves line ${item.line}` : item.rollout === null ? '' : `canary, ${item.rollout.state} at ${item.rollout.percent} %`,
    sayTime(item.published_at, ''),
    item.published_by,
    item.digest.slice(0, 19),
    sayFarewell(item),
  ])
  return layoutTable({ head: ['VERSION', 'STATUS', 'SERVED', 'PUBLISHED (UTC)', 'BY', 'DIGEST', 'REASON'], rows, overflow: 'wrap' }, width)
}

function sayFarewell({ status_reason: why, sunset_at: sunsetAt, replacement }: VersionList['items'][number]): string {
  return [
    why ?? '',
    sunsetAt === null ? '' : `goes away on ${sunsetAt.slice(0, 10)}`,
    replacement === null ? '' : `${replacement} replaces it`,
  ]
    .filter((part) => part !== '')
    .join('; ')
}
