import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes the first admin key where only its owner reads it. */
export async function writeAdminKey(file: string, key: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.new`, `${key}\n`, { mode: 0o600 })
  await chmod(`${file}.new`, 0o600)
  await rename(`${file}.new`, file)
}
