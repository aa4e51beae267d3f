import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { CommandError, usageError } from './command-error.ts'

/** Folders that hold a skill, and what was seen beside them and not taken. */
export type FoundSkills = { readonly folders: readonly string[]; readonly remarks: readonly string[] }

const neverSearched = new Set(['.git', 'node_modules', '__pycache__'])

/** A skill folder itself, or the skill folders that lie directly in a directory, as they do in `skills/`. */
export async function findSkillsIn(directory: string): Promise<FoundSkills> {
  const entries = await readDirectory(directory)
  if (entries.some(({ name }) => name === 'SKILL.md')) return { folders: [directory], remarks: [] }
  const folders: string[] = []
  const remarks: string[] = []
  for (const { name } of entries.filter((entry) => entry.isDirectory() && !neverSearched.has(entry.name) && !entry.name.startsWith('.'))) {
    const path = join(directory, name)
    if (await holdsSkill(path)) folders.push(path)
    else remarks.push(`${path} holds no SKILL.md, and is not checked`)
  }
  if (folders.length === 0)
    throw usageError(
      `There is no SKILL.md in ${directory}, nor in a folder directly in it.`,
      'name a skill folder, or a folder of skill folders',
    )
  return { folders, remarks }
}

/**
 * Every folder at or below a directory that holds a SKILL.md, in the order of their paths. Skills inside a skill are found too:
 * they are files of the outer one, which may link to them, and skills of their own.
 */
export async function findSkillsBelow(directory: string): Promise<FoundSkills> {
  const folders: string[] = []
  const remarks: string[] = []
  const visit = async (path: string, isInSkill: boolean): Promise<void> => {
    const entries = await readDirectory(path).catch((error: unknown) => {
      if (path === directory || !(error instanceof CommandError)) throw error
      remarks.push(`${error.message.replace(/\.$/, '')}; it was not searched`)
      return []
    })
    // A file in the wrong case is found as well, so that it is refused with a reason and not passed over.
    const isSkill = entries.some((entry) => !entry.isDirectory() && entry.name.toUpperCase() === 'SKILL.MD')
    if (isSkill) folders.push(path)
    for (const entry of entries) {
      // Links inside a skill are told when its files are read.
      if (entry.isSymbolicLink() && !isSkill && !isInSkill && (await isDirectory(join(path, entry.name))))
        remarks.push(`${join(path, entry.name)} is a symbolic link, and was not followed`)
      if (!entry.isDirectory()) continue
      if (!neverSearched.has(entry.name)) await visit(join(path, entry.name), isInSkill || isSkill)
      else if (entry.name === 'node_modules') remarks.push(`${join(path, entry.name)} was not searched`)
    }
  }
  await visit(directory, false)
  if (folders.length === 0) throw usageError(`There is no SKILL.md in or below ${directory}.`, 'name a folder that holds skills')
  return { folders, remarks }
}

async function readDirectory(
  path: string,
): Promise<{ readonly name: string; isDirectory(): boolean; isFile(): boolean; isSymbolicLink(): boolean }[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    const what = code === 'ENOENT' ? 'there is no such folder' : code === 'ENOTDIR' ? 'it is not a folder' : (code ?? 'unknown')
    throw usageError(`${path} cannot be read: ${what}.`, basename(path) === 'SKILL.md' ? 'name the folder, not the file' : undefined)
  }
}

function holdsSkill(path: string): Promise<boolean> {
  return stat(join(path, 'SKILL.md')).then(
    (found) => found.isFile(),
    () => false,
  )
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
