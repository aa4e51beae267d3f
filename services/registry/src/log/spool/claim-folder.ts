import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Binds a spool to the installation its rows belong to: acknowledged rows are brought to no other. */
export async function claimFolder(folder: string, installId: string): Promise<void> {
  const file = join(folder, 'installation')
  const known = await readFile(file, 'utf8').catch(() => '')
  if (known.trim() !== '' && known.trim() !== installId)
    throw new Error(
      `The spool ${folder} holds calls of installation ${known.trim()}, and the database belongs to ${installId}: start with the database they belong to, or with another data directory.`,
    )
  if (known.trim() === '') await writeFile(file, `${installId}\n`, { mode: 0o600 })
}

/** What tells this spool from every other one, whichever process has it. */
export async function readSpoolId(folder: string): Promise<string> {
  const file = join(folder, 'spool-id')
  const known = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(known)) return known
  const made = randomUUID()
  await writeFile(file, `${made}\n`, { mode: 0o600 })
  return made
}
