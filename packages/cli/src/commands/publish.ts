import type { Published } from '@repertoire/sdk'
import type { Command } from 'commander'
import { CommandError, usageError } from '../command-error.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { findSkillsIn } from '../find-skills.ts'
import { writePublishBody } from '../publish-body.ts'
import { count } from '../say-count.ts'
import { detailOf, sayFinding } from '../say-findings.ts'

type PublishOptions = { readonly dryRun?: boolean; readonly allowSimilarName?: boolean }

/** Adds `repertoire publish`. */
export function addPublish(program: Command): void {
  program
    .command('publish')
    .summary('publish one version as a candidate')
    .description(
      'Checks a skill folder here and then publishes it as a candidate: nobody gets it until it is released. The same bytes again change nothing; other bytes under the same version are refused. Folders called test, tests, node_modules and __pycache__ stay out.',
    )
    .argument('<dir>', 'a skill folder')
    .option('--dry-run', 'let the registry check everything and store nothing')
    .option('--allow-similar-name', 'insist on a name that looks like another one (admins only)')
    .addHelpText('after', examples('repertoire publish skills/query-order', 'repertoire publish skills/query-order@1.1.0 --dry-run'))
    .action(
      withContext(async ({ print, registry }, [directory]: [string], options: PublishOptions) => {
        const client = registry()
        const folder = await oneSkill(directory)
        const { checkFolder } = await import('../check-folder.ts')
        const check = await checkFolder(folder, { folderMismatch: 'warning', proves: true })
        for (const finding of check.leftOut) if (finding.level === 'warning') print.note(sayFinding(finding))
        const errors = check.findings.filter((finding) => finding.level === 'error')
        if (check.passed === undefined) {
          throw new CommandError({
            exit: 'badInput',
            code: 'INVALID_MANIFEST',
            message: `${check.name ?? check.folder} cannot be published: ${count(errors.length, 'problem')}.`,
            details: errors.map(detailOf),
          })
        }
        const query = {
          dry_run: options.dryRun === true ? true : undefined,
          allow_similar_name: options.allowSimilarName === true ? true : undefined,
        }
        const { data } = await client.transport.send<Published>('POST', '/v1/skills', { query, body: writePublishBody(check) })
        print.result(
          data,
          () =>
            sayPublished(data, options.dryRun === true) +
            (print.isQuiet ? '' : data.report.findings.map((finding) => `    ${sayFinding(finding)}\n`).join('')),
        )
        if (options.dryRun !== true && data.created)
          print.note(`it is a candidate; release it with: repertoire release ${data.name} ${data.version} --reason "…"`)
      }),
    )
}

async function oneSkill(directory: string): Promise<string> {
  const { folders } = await findSkillsIn(directory)
  const [first, ...others] = folders
  if (first === undefined || others.length > 0 || first !== directory)
    throw usageError(`${directory} is not a skill folder: it holds no SKILL.md.`, 'name one skill folder; repertoire import takes many')
  return first
}

function sayPublished({ name, version, created, status, digest }: Published, isDryRun: boolean): string {
  const verb = created ? (isDryRun ? 'would be published' : 'published') : 'unchanged: these very bytes were published before'
  return `${name} ${version} ${verb} (${status})\n${digest}\n`
}
