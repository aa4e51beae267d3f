import type { Command } from 'commander'
import { resolve } from 'node:path'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { exitOf } from '../exit-of.ts'
import { explainError } from '../explain-error.ts'
import { findSkillsBelow } from '../find-skills.ts'
import type { ImportReport } from '../import/outcome.ts'
import { sayImport } from '../import/say-import.ts'
import { wholeNumber, reason } from '../read-option.ts'
import { writeErr } from '../terminal.ts'

type ImportOptions = {
  readonly defaultVersion?: string
  readonly defaultPermission?: string
  readonly release?: boolean
  readonly reason: string
  readonly dryRun?: boolean
  readonly concurrency: number
  readonly report?: string
  readonly strict?: boolean
}

const mostAtOnce = 32

/** Adds `repertoire import`. */
export function addImport(program: Command): void {
  program
    .command('import')
    .summary('publish every skill below a folder')
    .description(
      'Publishes every folder at or below a directory that holds a SKILL.md, and accounts for each of them: published, already there, or refused with the reason. A skill inside a skill is a file of the outer one and a skill of its own. Running it again changes nothing that is there.',
    )
    .argument('<dir>', 'where to look, at any depth')
    .option('--default-version <version>', 'the version of skills that name none')
    .option('--default-permission <tags>', 'the permission tags of skills that say nothing of them: none, or tag,tag')
    .option('--release', 'also release what was published')
    .option('--reason <text>', 'why it is released, for the audit log', reason, 'released by repertoire import')
    .option('--dry-run', 'let the registry check everything and store nothing')
    .option('--concurrency <n>', 'how many at once', wholeNumber(1, mostAtOnce), 4)
    .option('--report <file>', 'write what became of every folder, as JSON')
    .option('--strict', 'end with 10 when any folder was refused')
    .addHelpText(
      'after',
      examples(
        'repertoire import ~/skills --default-version 1.0.0 --default-permission none --dry-run',
        'repertoire import vendor/skills --default-version 1.0.0 --default-permission none --report import.json',
        'repertoire import team/skills --release --reason "reviewed in March" --strict',
      ),
    )
    .action(
      withContext(async ({ print, connect, end }, [given]: [string], options: ImportOptions) => {
        const { registry, address } = connect()
        const directory = resolve(given)
        const { folders, remarks } = await findSkillsBelow(directory)
        const { importFolders } = await import('../import/import-folders.ts')
        const { report, error } = await importFolders(registry, address, {
          directory,
          paths: folders,
          remarks,
          defaultVersion: options.defaultVersion,
          defaultPermission: options.defaultPermission,
          isDryRun: options.dryRun === true,
          releaseReason: options.release === true ? options.reason : undefined,
          concurrency: options.concurrency,
          reportFile: options.report,
          isQuiet: print.isQuiet,
        })
        for (const remark of report.remarks) print.note(remark)
        print.result(report, () => sayImport(report))
        if (error !== undefined) {
          writeErr(explainError(error))
          end(exitOf(error))
        } else if (report.stopped !== null) end('interrupted')
        else if (options.strict === true && hasRefusals(report)) end('someRefused')
      }),
    )
}

function hasRefusals({ counts }: ImportReport): boolean {
  return counts.refused + counts.release_refused > 0
}
