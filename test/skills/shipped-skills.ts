import { checkBundle, proveSchemas, type CheckedBundle } from '@repertoire/core'
import type { Finding } from '@repertoire/contract'
import { fileURLToPath } from 'node:url'
import { readSkillFolders } from '../../services/registry/src/start/skill-folders.ts'

/** One folder of skills/, read and checked as the registry does at its start. */
export type ShippedSkill = {
  readonly folder: string
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly findings: readonly Finding[]
  readonly checked: CheckedBundle | undefined
}

/** All the skills we ship. */
export async function readShippedSkills(): Promise<ShippedSkill[]> {
  const folders = await readSkillFolders(fileURLToPath(new URL('../../skills', import.meta.url)))
  return folders.map(({ folder, files }) => {
    const check = checkBundle({ files, defaults: {}, folder, folderMismatch: 'error' })
    return {
      folder,
      files,
      findings: [...check.findings, ...(check.toProve === undefined ? [] : proveSchemas(check.toProve))],
      checked: check.checked,
    }
  })
}

/** What a checked skill declares; a skill that did not pass the check has nothing to be tested. */
export function checkedOf(skill: ShippedSkill | undefined): CheckedBundle {
  if (skill?.checked === undefined)
    throw new Error(`${skill?.folder ?? 'the skill'} is not there, or does not pass the check: ${JSON.stringify(skill?.findings)}`)
  return skill.checked
}
