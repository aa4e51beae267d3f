import { limits, type Finding } from '@repertoire/contract'
import { isPartOfSkill } from '@repertoire/core'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { SkillFolder } from '../catalogue/seed-skills.ts'

/** The skill folders of a directory: each has a SKILL.md. What cannot be read of one is told with it, and stops no other. */
export async function readSkillFolders(directory: string): Promise<SkillFolder[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const folders: SkillFolder[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory() || !isPartOfSkill(entry.name) || entry.name.startsWith('.')) continue
    const path = join(directory, entry.name)
    const isSkill = await stat(join(path, 'SKILL.md')).then(
      (found) => found.isFile(),
      () => false,
    )
    if (isSkill) folders.push({ folder: entry.name, ...(await readFiles(path)) })
  }
  return folders
}

async function readFiles(root: string): Promise<Omit<SkillFolder, 'folder'>> {
  const files = new Map<string, Uint8Array>()
  const findings: Finding[] = []
  const pending = [root]
  let bytes = 0
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const here = at
    const entries = await readdir(here, { withFileTypes: true }).catch((error: unknown) =>
      refuse(findings, relative(root, here) || '.', error),
    )
    for (const entry of entries ?? []) {
      if (!isPartOfSkill(entry.name)) continue
      const path = join(here, entry.name)
      const name = relative(root, path).split(sep).join('/')
      if (entry.isDirectory()) pending.push(path)
      else if (!entry.isFile())
        findings.push({
          level: 'warning',
          file: name,
          line: null,
          message: 'it is not a plain file, and is left out',
          fix: 'put a copy of the file here',
        })
      // One file and one byte more than is allowed are enough for the check to say so.
      else if (files.size <= limits.files && bytes <= limits.skillBytes) {
        const content = await readFile(path).catch((error: unknown) => refuse(findings, name, error))
        bytes += content?.byteLength ?? 0
        if (content !== undefined) files.set(name, content)
      }
    }
  }
  return { files, findings }
}

function refuse(findings: Finding[], file: string, error: unknown): undefined {
  findings.push({
    level: 'error',
    file,
    line: null,
    message: `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    fix: 'make it readable',
  })
}
