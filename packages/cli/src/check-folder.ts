import type { Finding } from '@repertoire/contract/sdk'
import { checkBundle, proveSchemas, type BundleDefaults } from '@repertoire/core'
import { basename, resolve } from 'node:path'
import { readFolder } from './read-folder.ts'

/** How a folder is checked. */
export type CheckOptions = {
  readonly defaults?: BundleDefaults
  /** What it is when the folder is not called like the skill: an error in `skills/`, a warning elsewhere. */
  readonly folderMismatch: 'error' | 'warning'
  /** Whether schemas are compiled and examples tried; that runs what the author wrote, with nothing to end it. */
  readonly proves: boolean
}

/** A folder and everything the rules say about it; `passed` is there when nothing is an error. */
export type FolderCheck = {
  readonly path: string
  readonly folder: string
  readonly name: string | undefined
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly findings: readonly Finding[]
  /** The files of the folder that are no part of the skill; among the findings too. */
  readonly leftOut: readonly Finding[]
  readonly passed: { readonly name: string; readonly version: string; readonly digest: string; readonly kind: string } | undefined
}

/** Checks a folder by the rules the registry applies before it publishes. */
export async function checkFolder(path: string, { defaults = {}, folderMismatch, proves }: CheckOptions): Promise<FolderCheck> {
  const folder = basename(resolve(path))
  const reading = await readFolder(path)
  if (reading.findings.some((finding) => finding.level === 'error'))
    return { path, folder, name: undefined, files: reading.files, findings: reading.findings, leftOut: reading.findings, passed: undefined }
  const { findings: found, toProve, checked, name } = checkBundle({ files: reading.files, defaults, folder, folderMismatch })
  const findings = [...reading.findings, ...found, ...(proves && toProve !== undefined ? proveSchemas(toProve) : [])]
  const isGood = checked !== undefined && findings.every((finding) => finding.level !== 'error')
  return {
    path,
    folder,
    name,
    files: reading.files,
    findings,
    leftOut: reading.findings,
    passed: isGood
      ? { name: checked.manifest.name, version: checked.manifest.version, digest: checked.digest, kind: checked.kind }
      : undefined,
  }
}
