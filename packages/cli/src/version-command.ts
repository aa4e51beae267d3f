import type { LineChanged } from '@repertoire/sdk'
import { apiPath } from './api-path.ts'
import { carryOut } from './command-flow.ts'
import type { CommandOptions } from './command-options.ts'
import type { Context } from './context.ts'
import { sayVersionChanged } from './say-changed.ts'

/** A command on one exact version of a skill, by its name in the API. */
export type VersionCommand = {
  readonly name: string
  readonly version: string
  readonly verb: 'release' | 'deprecate' | 'yank' | 'unyank' | 'block'
  readonly body?: Readonly<Record<string, unknown>>
  readonly isUrgent?: boolean
}

/** Carries a command on a version out. */
export async function commandVersion(context: Context, command: VersionCommand, options: CommandOptions): Promise<void> {
  const { name, version, verb, body = {}, isUrgent = false } = command
  const change = {
    what: `${verb} ${name} ${version}`,
    path: apiPath`/v1/skills/${name}/versions/${version}/${verb}`,
    body,
    about: apiPath`/v1/skills/${name}/versions`,
    isUrgent,
    say: sayVersionChanged,
  }
  await carryOut<LineChanged>(context, change, options)
}
