import type { Command } from 'commander'
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CommandError } from '../command-error.ts'
import { examples } from '../examples.ts'

const service = fileURLToPath(new URL('../../../../services/registry/dist/main.js', import.meta.url))

/** Adds `repertoire admin-key`. */
export function addAdminKey(program: Command): void {
  program
    .command('admin-key')
    .summary('make a new admin key with nothing but the database, when nobody has one')
    .description(
      'Breaks the glass: makes a new key for the first admin, enables it if it was disabled, and writes the key to its file. It needs the data directory (or DATABASE_URL) and the install secret of the registry, no key, and leaves an event in the audit log.',
    )
    .addHelpText('after', examples('repertoire admin-key', 'REPERTOIRE_DATA_DIR=/var/lib/repertoire repertoire admin-key'))
    .action(() => {
      if (!existsSync(service))
        throw new CommandError({
          exit: 'usage',
          code: 'NOT_HERE',
          message: 'The registry itself is not installed here.',
          hint: 'run this where the registry runs, after npm run build',
        })
      const { status } = spawnSync(process.execPath, [service, 'admin-key'], { stdio: 'inherit' })
      process.exitCode = status ?? 1
    })
}
