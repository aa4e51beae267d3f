import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CommandError } from './command-error.ts'

const service = fileURLToPath(new URL('../../../services/registry/dist/main.js', import.meta.url))

/** Lets the registry's own program do what needs its database and its disk rather than a key, and ends as it does. */
export function runService(args: readonly string[]): void {
  if (!existsSync(service))
    throw new CommandError({
      exit: 'usage',
      code: 'NOT_HERE',
      message: 'The registry itself is not installed here.',
      hint: 'run this where the registry runs, after npm run build',
    })
  const { status } = spawnSync(process.execPath, [service, ...args], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
