import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../store/replace-file.ts'

/** The processes whose calls may lie in a spool. */
export async function readInstances(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, 'instances'), 'utf8').catch(() => '')
  return text.split('\n').filter((line) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(line))
}

/** Notes whose calls may lie in a spool: a process before its first row, and fewer once all of the others are in Postgres. */
export async function noteInstances(folder: string, instances: readonly string[]): Promise<void> {
  await replaceFile(folder, 'instances', (write) => write(instances.map((instance) => `${instance}\n`).join('')))
}
