import { limits } from '@repertoire/contract'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { SkillFolder } from '../catalogue/seed-skills.ts'

const ignored = new Set(['.git', 'node_modules', '__pycache__', '.DS_Store', 'test', 'tests'])

/** The skill folders of a directory: each has a SKILL.md. Tests beside a skill are its author's, and are not published. */
export async function readSkillFolders(directory: string): Promise<SkillFolder[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const folders: SkillFolder[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory() || ignored.has(entry.name) || entry.name.startsWith('.')) continue
    const path = join(directory, entry.name)
    const isSkill = await stat(join(path, 'SKILL.md')).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isSkill) folders.push({ folder: entry.name, files: await readFiles(path) })
  }
  return folders
}

async function readFiles(root: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  const pending = [root]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (ignored.has(entry.name)) continue
      const path = join(at, entry.name)
      if (entry.isDirectory()) pending.push(path)
      // One file more than is allowed is enough for the check to say so.
      else if (entry.isFile() && files.size <= limits.files) files.set(relative(root, path).split(sep).join('/'), await readFile(path))
    }
  }
  return files
}
