import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { runService } from '../run-service.ts'

/** Adds `repertoire admin-key`. */
export function addAdminKey(program: Command): void {
  program
    .command('admin-key')
    .summary('make a new admin key with nothing but the database, when nobody has one')
    .description(
      'Breaks the glass: makes a new key for the first admin, enables it if it was disabled, and writes the key to its file. It needs the data directory (or DATABASE_URL) and the install secret of the registry, no key, and leaves an event in the audit log.',
    )
    .addHelpText('after', examples('repertoire admin-key', 'REPERTOIRE_DATA_DIR=/var/lib/repertoire repertoire admin-key'))
    .action(() => runService(['admin-key']))
}
