import { nameKey } from '@repertoire/core'
import type { FolderOutcome, Reason } from './outcome.ts'
import type { PlannedFolder } from './plan-import.ts'

/** The earlier folder of the same import that holds the same skill in the same version. */
export function findTwin(planned: PlannedFolder, earlier: readonly PlannedFolder[]): PlannedFolder | undefined {
  return earlier.find((other) => nameKey(other.name) === nameKey(planned.name) && other.version === planned.version)
}

/** Why a folder is refused whose name and version an earlier one took with other bytes. */
export function takenBy({ name, version }: PlannedFolder, twin: PlannedFolder): Reason {
  return {
    code: 'VERSION_EXISTS',
    message: `${name} ${version} has other bytes in ${twin.folder}, which came first.`,
    hint: 'rename one of the two skills, or give one another version',
  }
}

/** What becomes of a folder because of those before it: a dry run stores nothing, so the registry cannot know of them. */
export function foresee(
  planned: PlannedFolder,
  earlier: readonly PlannedFolder[],
): Pick<FolderOutcome, 'result' | 'reason' | 'same_as'> | undefined {
  const twin = findTwin(planned, earlier)
  if (twin !== undefined && twin.digest === planned.digest) return { result: 'unchanged', reason: null, same_as: twin.folder }
  if (twin !== undefined) return { result: 'refused', reason: takenBy(planned, twin), same_as: null }
  const alike = earlier.find((other) => nameKey(other.name) !== nameKey(planned.name))
  if (alike === undefined) return undefined
  const message = `${planned.name} looks like ${alike.name} of ${alike.folder}.`
  return { result: 'refused', reason: { code: 'NAME_TOO_SIMILAR', message, hint: 'choose another name' }, same_as: null }
}
