import type { Command } from 'commander'
import { resolve } from 'node:path'
import { examples } from '../examples.ts'
import { runService } from '../run-service.ts'

/** Adds `repertoire spool`. */
export function addSpool(program: Command): void {
  const spool = program
    .command('spool')
    .summary('bring the calls on the disk of a lost replica to the database')
    .description('Looks after calls that a replica acknowledged on its own disk.')
  spool
    .command('drain')
    .description(
      'Brings the calls on the disk of a replica that never comes back to the database of DATABASE_URL, each once; calls of it whose end nobody knows are told as unknown. Refused while a process has that directory, and for calls of another installation. It may be run again.',
    )
    .argument('<dir>', 'the data directory of the replica that is gone')
    .addHelpText('after', examples('DATABASE_URL=postgres://… repertoire spool drain /mnt/old-disk/repertoire'))
    .action((directory: string) => runService(['spool', 'drain', resolve(directory)]))
}
