import { Refusal } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import type { Visit } from '../visit.ts'
import { admitExact } from './admit-exact.ts'

/** Which file of which exact version. */
export type ReadFileInput = { readonly name: string; readonly version: string; readonly path: string }

/** One file of a version, byte for byte, with its digest. */
export async function readFile(
  deps: Deps,
  visit: Visit,
  { name, version, path }: ReadFileInput,
): Promise<{ readonly bytes: Uint8Array; readonly digest: string }> {
  const { resolved } = admitExact(deps, visit, { name, version })
  const file = resolved.version.files.find((candidate) => candidate.path === path)
  const bytes = file === undefined ? undefined : await deps.store.file(resolved.version.id, path)
  if (file === undefined || bytes === undefined) {
    throw new Refusal('NOT_FOUND', `${name} ${version} has no file of that path.`, { hint: 'GET the version to see its files' })
  }
  return { bytes, digest: file.digest }
}
