import { usageError } from './command-error.ts'

/** A path of the API, with its names written so that none of them reaches another route. */
export function apiPath(parts: TemplateStringsArray, ...names: readonly string[]): string {
  return parts.map((part, index) => `${part}${index < names.length ? segment(names[index] ?? '') : ''}`).join('')
}

// An address has no way to write these as a name: they would climb to another path.
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') throw usageError(`${JSON.stringify(name)} is not a name.`)
  return encodeURIComponent(name)
}
