import type { SeedReport } from '../catalogue/seed-skills.ts'

/** What is printed about the skills folder: a count, and each refusal with its fix. */
export function sayWhatWasSeeded(reports: readonly SeedReport[], directory: string): string[] {
  const count = (result: SeedReport['result']): number => reports.filter((report) => report.result === result).length
  if (reports.length === 0)
    return [`skills    there is no skill folder in ${directory}: set REPERTOIRE_SKILLS_DIR, or start from the folder that holds skills/`]
  const lines = [
    `skills    ${directory}: ${count('released')} released, ${count('published')} published as candidates, ${count('unchanged')} unchanged, ${count('refused')} refused`,
  ]
  for (const report of reports) {
    if (report.result !== 'refused') continue
    const errors = report.findings.filter((finding) => finding.level === 'error')
    lines.push(`          ✗ ${report.folder}: ${report.message ?? `${errors.length === 1 ? 'one problem' : `${errors.length} problems`}`}`)
    for (const finding of errors)
      lines.push(
        `              ${finding.file}${finding.line === null ? '' : `:${finding.line}`} ${finding.message}${finding.fix === null ? '' : `\n                → ${finding.fix}`}`,
      )
  }
  return lines
}
