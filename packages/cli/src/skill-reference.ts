import { usageError } from './command-error.ts'

/** A skill as it is named on the command line. */
export type SkillReference = { readonly name: string; readonly range: string | undefined }

/** Reads `query-order` or `query-order@^1.2`. */
export function readSkillReference(text: string): SkillReference {
  const at = text.indexOf('@')
  const name = at < 0 ? text : text.slice(0, at)
  const range = at < 0 ? undefined : text.slice(at + 1).trim()
  if (name === '' || range === '')
    throw usageError(`${JSON.stringify(text)} does not name a skill.`, 'write name or name@range, such as query-order@^1.2')
  return { name, range }
}

/** Reads several references as a map of name to range; a name without a range takes any version. */
export function readRequires(texts: readonly string[]): Record<string, string> {
  const requires = new Map<string, string>()
  for (const text of texts) {
    const { name, range = '*' } = readSkillReference(text)
    if (requires.has(name)) throw usageError(`${name} is asked for twice.`, 'give each skill one range')
    requires.set(name, range)
  }
  return Object.fromEntries(requires)
}
