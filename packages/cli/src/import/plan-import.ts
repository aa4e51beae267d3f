import { lookAlikeKey, type BundleDefaults } from '@repertoire/core'
import { join, relative } from 'node:path'
import { checkFolder, type FolderCheck } from '../check-folder.ts'
import type { FolderOutcome } from './outcome.ts'

/** A folder that passed the rules here and is to be published. */
export type PlannedFolder = {
  readonly path: string
  readonly folder: string
  readonly name: string
  readonly version: string
  readonly digest: string
  readonly findings: FolderCheck['findings']
}

/** What is to be done: lines of folders that must keep their order, the folders that are refused already, and the files that stay out. */
export type ImportPlan = {
  readonly lines: readonly (readonly PlannedFolder[])[]
  readonly refused: readonly FolderOutcome[]
  readonly remarks: readonly string[]
}

/** What a plan is made from. */
export type PlanInput = {
  readonly directory: string
  readonly paths: readonly string[]
  readonly defaults: BundleDefaults
  readonly isOver: () => boolean
}

/**
 * Checks every folder and orders the good ones. Folders whose names are or look the same stand in one line, in the order of
 * their paths, so that which of two is first, and thereby accepted, never depends on how fast the network is.
 */
export async function planImport({ directory, paths, defaults, isOver }: PlanInput): Promise<ImportPlan> {
  const lines = new Map<string, PlannedFolder[]>()
  const refused: FolderOutcome[] = []
  const remarks: string[] = []
  for (const path of paths) {
    const folder = relative(directory, path) || '.'
    if (isOver()) {
      refused.push({ ...untouched(folder), result: 'not_reached' })
      continue
    }
    // Schemas from elsewhere are not compiled here, where nothing would end one that never ends; the registry does it in a worker with a deadline.
    const check = await checkFolder(path, { defaults, folderMismatch: 'warning', proves: false })
    for (const { level, file, message } of check.leftOut) if (level === 'warning') remarks.push(`${join(folder, file)}: ${message}`)
    if (check.passed === undefined) {
      refused.push({
        ...untouched(folder),
        name: check.name ?? null,
        result: 'refused',
        reason: { code: 'INVALID_MANIFEST', message: `${check.name ?? check.folder} cannot be published.`, hint: null },
        findings: check.findings,
      })
      continue
    }
    const { name, version, digest } = check.passed
    const key = lookAlikeKey(name)
    lines.set(key, [...(lines.get(key) ?? []), { path, folder, name, version, digest, findings: check.findings }])
  }
  return { lines: [...lines.values()], refused, remarks }
}

/** The outcome of a folder of which nothing is known yet. */
export function untouched(folder: string): Omit<FolderOutcome, 'result'> {
  return { folder, name: null, version: null, digest: null, released: false, same_as: null, reason: null, findings: [] }
}
