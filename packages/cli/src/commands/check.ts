import type { Command } from 'commander'
import type { FolderCheck } from '../check-folder.ts'
import { withContext } from '../context.ts'
import { examples } from '../examples.ts'
import { findSkillsIn } from '../find-skills.ts'
import { safeLine } from '../safe-text.ts'
import { count } from '../say-count.ts'
import { sayFinding } from '../say-findings.ts'

/** Adds `repertoire check`. */
export function addCheck(program: Command): void {
  program
    .command('check')
    .summary('check skills offline, by the rules the registry applies')
    .description(
      'Checks skills without a registry, by the rules it applies before it publishes: front matter, files, schemas and examples. Every problem is told at once.',
    )
    .argument('<dir...>', 'a skill folder, or a folder of skill folders')
    .addHelpText(
      'after',
      examples(
        'repertoire check skills/query-order',
        'repertoire check skills',
        'repertoire check skills --json | jq ".skills[] | select(.ok | not)"',
      ),
    )
    .action(
      withContext(async ({ print, end }, [directories]: [string[]]) => {
        // Loaded here and not above: the rules and their compiler take a third of a second, and most commands need neither.
        const { checkFolder } = await import('../check-folder.ts')
        const checks: FolderCheck[] = []
        for (const directory of directories) {
          const { folders, remarks } = await findSkillsIn(directory)
          for (const remark of remarks) print.note(remark)
          for (const folder of folders) checks.push(await checkFolder(folder, { folderMismatch: 'error', proves: true }))
        }
        print.result(
          { skills: checks.map(asData) },
          () => checks.map((check) => sayCheck(check, print.isQuiet)).join('') + sayTotal(checks),
        )
        if (checks.some((check) => check.passed === undefined)) end('badInput')
      }),
    )
}

function sayCheck(check: FolderCheck, isQuiet: boolean): string {
  const errors = check.findings.filter((finding) => finding.level === 'error')
  const warnings = isQuiet ? [] : check.findings.filter((finding) => finding.level === 'warning')
  const head =
    check.passed === undefined
      ? `✗ ${check.name ?? check.folder} (${check.path}): ${count(errors.length, 'problem')}`
      : `✓ ${check.passed.name} ${check.passed.version}  ${check.passed.digest}`
  return [safeLine(head), ...[...errors, ...warnings].map((finding) => `    ${sayFinding(finding)}`)].map((line) => `${line}\n`).join('')
}

function sayTotal(checks: readonly FolderCheck[]): string {
  if (checks.length === 1) return ''
  const good = checks.filter((check) => check.passed !== undefined).length
  return `\n${count(checks.length, 'skill')} checked: ${good} can be published, ${checks.length - good} cannot\n`
}

function asData(check: FolderCheck): object {
  const { path, name, findings, passed } = check
  return {
    path,
    ok: passed !== undefined,
    name: passed?.name ?? name ?? null,
    version: passed?.version ?? null,
    digest: passed?.digest ?? null,
    kind: passed?.kind ?? null,
    findings,
  }
}
