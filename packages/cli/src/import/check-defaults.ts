import { checkBundle, type BundleDefaults } from '@repertoire/core'
import { usageError } from '../command-error.ts'

/** Reads what fills in for a silent front matter, and refuses what no skill could have. */
export function readDefaults(version: string | undefined, permission: string | undefined): BundleDefaults {
  const tags = permission === undefined ? undefined : permission === 'none' ? [] : permission.split(',').map((tag) => tag.trim())
  const defaults = { ...(version === undefined ? {} : { version }), ...(tags === undefined ? {} : { permission: tags }) }
  // Tried on a skill that says nothing, so that a slip is told once and not for every folder.
  const silent = `---\nname: silent\ndescription: says nothing\n${version === undefined ? 'version: 1.0.0\n' : ''}${tags === undefined ? 'permission: []\n' : ''}---\n`
  const { findings } = checkBundle({
    files: new Map([['SKILL.md', Buffer.from(silent)]]),
    defaults,
    folder: undefined,
    folderMismatch: 'warning',
  })
  const problem = findings.find((finding) => finding.level === 'error')
  if (problem !== undefined) throw usageError(`A default cannot be taken: ${problem.message}.`, problem.fix ?? undefined)
  return defaults
}
