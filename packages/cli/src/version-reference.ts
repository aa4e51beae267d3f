import type { Command } from 'commander'
import { usageError } from './command-error.ts'
import { readSkillReference } from './skill-reference.ts'

/** Gives a command a skill and a version of it, in two words or in one. */
export function addVersionArguments(command: Command, version = 'the exact version'): Command {
  return command
    .argument('<name>', 'the skill, or name@version in one word')
    .argument('[version]', `${version}; not where it stands behind the name`)
}

/** Reads `query-order 1.2.0` or `query-order@1.2.0`. */
export function readVersionReference(text: string, second: string | undefined): { readonly name: string; readonly version: string } {
  const { name, range: first } = readSkillReference(text)
  if (first !== undefined && second !== undefined)
    throw usageError(`The version of ${name} is given twice.`, `write ${name} ${second}, or ${name}@${second}`)
  const version = first ?? second
  if (version === undefined) throw usageError(`Which version of ${name} is meant?`, `write ${name} 1.2.0, or ${name}@1.2.0`)
  return { name, version }
}
