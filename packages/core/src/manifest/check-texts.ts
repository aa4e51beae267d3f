import type { Finding, Manifest } from '@repertoire/contract'
import type { BundleFiles } from './bundle.ts'
import { findSuspiciousWording, findUnsafeCharacter } from './text-safety.ts'

// A model reads what SKILL.md links to just as well. A control character there is a mishap; one that hides text is not.
/** What the files beside SKILL.md hide from whoever looks at them. */
export function checkReferences(files: BundleFiles): Finding[] {
  return [...files].flatMap(([path, bytes]): Finding[] => {
    if (path === 'SKILL.md' || !/\.(md|txt)$/i.test(path)) return []
    const unsafe = findUnsafeCharacter(new TextDecoder().decode(bytes))
    if (unsafe === undefined) return []
    const level = unsafe.what === 'a control character' ? 'warning' : 'error'
    return [
      { level, file: path, line: unsafe.line, message: `it contains ${unsafe.codePoint}, ${unsafe.what}`, fix: 'remove the character' },
    ]
  })
}

/** Descriptions that want a second look. */
export function checkWording(manifest: Manifest): Finding[] {
  return (['description', 'when_to_use', 'when_not_to_use'] as const).flatMap((key) => {
    const suspicious = findSuspiciousWording(manifest[key] ?? '')
    return suspicious === undefined ? [] : [warning('SKILL.md', `${key} wants a second look: ${suspicious}`, null)]
  })
}

/** What the front matter asks for and this version does not do yet: whoever relies on it has to know. */
export function checkUnkept(manifest: Manifest): Finding[] {
  const findings: Finding[] = []
  if (manifest.approval === 'human')
    findings.push(
      warning(
        'SKILL.md',
        'approval: human is kept and shown, but calls are not held for approval yet',
        'grant its tags only to agents that ask a human themselves',
      ),
    )
  if (manifest.concurrency !== undefined) findings.push(warning('SKILL.md', 'concurrency is kept and shown, but not enforced yet', null))
  return findings
}

/** What makes a skill harder to choose or to trust, though it can be published. */
export function lint(manifest: Manifest, hasOutputSchema: boolean): Finding[] {
  const findings: Finding[] = []
  if (!hasOutputSchema)
    findings.push(warning('output.schema.json', 'there is no output schema, so answers are passed on unchecked', 'add output.schema.json'))
  if (manifest.when_to_use === undefined)
    findings.push(warning('SKILL.md', 'when_to_use is missing; models choose by it', 'say when to use the skill'))
  if (manifest.examples.length < 5)
    findings.push(
      warning(
        'SKILL.md',
        `there are ${manifest.examples.length} examples; five make the skill much easier to find`,
        'add examples: {say, params}',
      ),
    )
  return findings
}

function warning(file: string, message: string, fix: string | null): Finding {
  return { level: 'warning', file, line: null, message, fix }
}
