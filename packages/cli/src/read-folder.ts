import { limits, type Finding } from '@repertoire/contract/sdk'
import { isPartOfSkill } from '@repertoire/core'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** The files of a skill by path, verbatim, and what could not be taken along. */
export type FolderReading = { readonly files: ReadonlyMap<string, Uint8Array>; readonly findings: readonly Finding[] }

/** Reads a skill's folder as the registry would: tests beside a skill are its author's, links are left out and told. */
export async function readFolder(root: string): Promise<FolderReading> {
  const findings: Finding[] = []
  const sizes = await listFiles(root, findings)
  const total = [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
  // Found out before reading, so that a folder of gigabytes is refused and not loaded.
  if (total > limits.skillBytes) findings.push(refuse('.', `the skill has ${total} bytes`, `keep it to ${limits.skillBytes} bytes`))
  if (sizes.size > limits.files) findings.push(refuse('.', `the skill has ${sizes.size} files`, `keep it to ${limits.files}`))
  if (findings.some((finding) => finding.level === 'error')) return { files: new Map(), findings }
  const files = new Map<string, Uint8Array>()
  for (const path of [...sizes.keys()].sort()) {
    const bytes = await readFile(join(root, path)).catch((error: unknown) => unreadable(path, error, findings))
    if (bytes !== undefined) files.set(path.split(sep).join('/'), bytes)
  }
  return { files, findings }
}

async function listFiles(root: string, findings: Finding[]): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  const pending = [root]
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: unknown) =>
      unreadable(relative(root, at ?? '') || '.', error, findings),
    )
    for (const entry of entries ?? []) {
      if (!isPartOfSkill(entry.name)) continue
      const path = join(at, entry.name)
      const name = relative(root, path)
      if (entry.isDirectory()) pending.push(path)
      else if (entry.isFile())
        sizes.set(
          name,
          await stat(path).then(
            ({ size }) => size,
            () => 0,
          ),
        )
      else
        findings.push({
          level: 'warning',
          file: name,
          line: null,
          message: entry.isSymbolicLink() ? 'it is a symbolic link, and is left out' : 'it is not a plain file, and is left out',
          fix: 'put a copy of the file here',
        })
    }
  }
  return sizes
}

function unreadable(file: string, error: unknown, findings: Finding[]): undefined {
  findings.push(
    refuse(file, `it cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`, 'make it readable, with a name in UTF-8'),
  )
}

function refuse(file: string, message: string, fix: string): Finding {
  return { level: 'error', file, line: null, message, fix }
}
