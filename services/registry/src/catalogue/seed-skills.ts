import type { Finding } from '@repertoire/contract'
import { checkBundle, groupBy, nameKey, Refusal, systemCaller, type BundleFiles, type CheckedBundle } from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { releaseSeeded } from './release-seeded.ts'
import { storeVersion } from './store-version.ts'

/** One folder of `skills/`: the files it holds, and what could not be read of it. */
export type SkillFolder = { readonly folder: string; readonly files: BundleFiles; readonly findings: readonly Finding[] }

/** What became of one folder. */
export type SeedReport = {
  readonly folder: string
  readonly name: string | undefined
  readonly version: string | undefined
  readonly result: 'published' | 'released' | 'unchanged' | 'refused'
  readonly findings: readonly Finding[]
  readonly message: string | undefined
  /** What went wrong on our side; for the log, not for the reader. */
  readonly fault?: unknown
}

/** How seeding treats new versions of skills it knows. */
export type SeedInput = { readonly folders: readonly SkillFolder[]; readonly releaseNew: boolean }

/**
 * Publishes what lies in `skills/`. A skill seen for the first time is released with all its versions, in one transaction, so
 * that a start cut short never leaves half of it; later versions arrive as candidates. No status it knows is ever changed.
 */
export async function seedSkills(deps: Deps, { folders, releaseNew }: SeedInput): Promise<SeedReport[]> {
  const reports: SeedReport[] = []
  const ready: { readonly folder: SkillFolder; readonly checked: CheckedBundle }[] = []
  for (const folder of folders) {
    const check = checkBundle({ files: folder.files, defaults: {}, folder: folder.folder, folderMismatch: 'error' })
    const known =
      check.checked === undefined
        ? undefined
        : deps.snapshot().skills.get(nameKey(check.checked.manifest.name))?.byVersion.get(check.checked.manifest.version)
    const isUnchanged = known !== undefined && known.digest === check.checked?.digest && known.source === 'folder'
    const findings = [
      ...folder.findings,
      ...check.findings,
      ...(check.toProve === undefined || isUnchanged ? [] : await deps.proveSchemas(check.toProve)),
    ]
    const report = { folder: folder.folder, name: check.name, version: check.checked?.manifest.version, findings, message: undefined }
    if (check.checked === undefined || findings.some((finding) => finding.level === 'error')) reports.push({ ...report, result: 'refused' })
    else if (isUnchanged) reports.push({ ...report, result: 'unchanged' })
    else ready.push({ folder, checked: check.checked })
  }
  for (const [key, versions] of groupBy(ready, ({ checked }) => nameKey(checked.manifest.name))) {
    versions.sort((a, b) => a.checked.manifest.version.localeCompare(b.checked.manifest.version, 'en', { numeric: true }))
    reports.push(...(await seedOneSkill(deps, key, { versions, releaseNew })))
  }
  return reports
}

type OneSkill = {
  readonly versions: readonly { readonly folder: SkillFolder; readonly checked: CheckedBundle }[]
  readonly releaseNew: boolean
}

// Nobody waits for the answer, and a folder may hold many versions.
const seeding = { deadlineMs: 30_000 }

async function seedOneSkill(deps: Deps, key: string, { versions, releaseNew }: OneSkill): Promise<SeedReport[]> {
  // Two versions that break one of the rules must not keep the others out, so each bad one is found first and left aside.
  const refused: SeedReport[] = []
  let remaining = [...versions]
  for (;;) {
    let trying = remaining[0]
    try {
      return await deps.store.transaction(async (tx) => {
        const isNew = (await tx.skills.lock(key)) === undefined
        const reports: SeedReport[] = []
        for (const entry of remaining) {
          trying = entry
          const { checked } = entry
          const stored = await storeVersion(
            { deps, tx, caller: systemCaller },
            { checked, files: entry.folder.files, source: 'folder', allowSimilarName: false, dryRun: false },
          )
          const releases = stored.created && (isNew || releaseNew)
          if (releases)
            await releaseSeeded(
              { deps, tx, caller: systemCaller },
              {
                name: checked.manifest.name,
                version: checked.manifest.version,
                reason: isNew ? 'first seen in the skills folder' : 'REPERTOIRE_SEED=release',
              },
            )
          reports.push({ ...reportOf(entry), result: releases ? 'released' : stored.created ? 'published' : 'unchanged' })
        }
        return [...refused, ...reports]
      }, seeding)
    } catch (error) {
      // A database that is away concerns all of them; everything else is the fault of one.
      if (trying === undefined || (error instanceof Refusal && (error.code === 'UNAVAILABLE' || error.code === 'BUSY'))) throw error
      refused.push(reportRefusal(trying, error))
      remaining = remaining.filter((entry) => entry !== trying)
      if (remaining.length === 0) return refused
    }
  }
}

function reportRefusal(entry: OneSkill['versions'][number], error: unknown): SeedReport {
  if (!(error instanceof Refusal))
    return {
      ...reportOf(entry),
      result: 'refused',
      message: 'it could not be stored, by a fault of the registry; the log says more.',
      fault: error,
    }
  const findings = error.details.flatMap((detail): Finding[] =>
    detail.message === undefined
      ? []
      : [{ level: 'error', file: detail.file ?? 'SKILL.md', line: detail.line ?? null, message: detail.message, fix: detail.fix ?? null }],
  )
  return { ...reportOf(entry), findings, result: 'refused', message: `${error.message}${error.hint === undefined ? '' : ` ${error.hint}`}` }
}

function reportOf({ folder, checked }: { readonly folder: SkillFolder; readonly checked: CheckedBundle }): Omit<SeedReport, 'result'> {
  return { folder: folder.folder, name: checked.manifest.name, version: checked.manifest.version, findings: [], message: undefined }
}
