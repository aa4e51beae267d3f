import type { BundleDefaults } from '@repertoire/core'
import { RepertoireError, type Published, type LineChanged, type Repertoire } from '@repertoire/sdk'
import { basename, resolve } from 'node:path'
import { apiPath } from '../api-path.ts'
import { writePublishBody } from '../publish-body.ts'
import { readFolder } from '../read-folder.ts'
import { findTwin, foresee, takenBy } from './foresee.ts'
import { asReason, type FolderOutcome } from './outcome.ts'
import type { Patience } from './patience.ts'
import { untouched, type PlannedFolder } from './plan-import.ts'

/** How folders are published, the same for all of them. */
export type PublishSettings = {
  readonly registry: Repertoire
  readonly patience: Patience
  readonly defaults: BundleDefaults
  readonly isDryRun: boolean
  readonly releaseReason: string | undefined
}

/** Publishes one folder, after those before it in its line; throws only what ends the whole import. */
export async function publishFolder(
  settings: PublishSettings,
  planned: PlannedFolder,
  earlier: readonly PlannedFolder[],
): Promise<FolderOutcome> {
  const twin = findTwin(planned, earlier)
  const outcome = {
    ...untouched(planned.folder),
    name: planned.name,
    version: planned.version,
    digest: planned.digest,
    findings: planned.findings,
  }
  if (settings.isDryRun) {
    const foreseen = foresee(planned, earlier)
    if (foreseen !== undefined) return { ...outcome, ...foreseen }
  }
  const reading = await readFolder(planned.path)
  if (reading.files.size === 0)
    return {
      ...outcome,
      result: 'refused',
      findings: reading.findings,
      reason: { code: 'INVALID_MANIFEST', message: `${planned.folder} cannot be read any more.`, hint: null },
    }
  try {
    const body = writePublishBody({ files: reading.files, defaults: writable(settings.defaults), folder: basename(resolve(planned.path)) })
    const query = settings.isDryRun ? { dry_run: true } : {}
    const { data } = await settings.patience.attempt(() =>
      settings.registry.transport.send<Published>('POST', '/v1/skills', { query, body }),
    )
    const isSame = !data.created && twin?.digest === data.digest
    const published = {
      ...outcome,
      name: data.name,
      version: data.version,
      digest: data.digest,
      findings: data.report.findings,
      result: data.created ? ('published' as const) : ('unchanged' as const),
      same_as: isSame ? twin.folder : null,
    }
    return settings.releaseReason === undefined || settings.isDryRun || data.status !== 'candidate'
      ? published
      : { ...published, ...(await release(settings, data, settings.releaseReason)) }
  } catch (error) {
    if (endsImport(error)) throw error
    const reason = asReason(error)
    return {
      ...outcome,
      result: 'refused',
      reason: reason.code === 'VERSION_EXISTS' && twin !== undefined ? takenBy(planned, twin) : reason,
      findings: [...planned.findings, ...findingsOf(error)],
    }
  }
}

async function release(
  { registry, patience }: PublishSettings,
  { name, version }: Published,
  reason: string,
): Promise<Pick<FolderOutcome, 'released' | 'reason'>> {
  try {
    const { data } = await patience.attempt(() =>
      registry.transport.send<LineChanged>('POST', apiPath`/v1/skills/${name}/versions/${version}/release`, {
        body: { reason },
        headers: { 'if-match': '*' },
      }),
    )
    return { released: data.changed, reason: null }
  } catch (error) {
    // It is published all the same; what ends the whole import shows again at the next folder.
    if (!(error instanceof RepertoireError)) throw error
    return { released: false, reason: asReason(error) }
  }
}

// Everything else concerns one folder and becomes its reason.
function endsImport(error: unknown): boolean {
  if (!(error instanceof RepertoireError)) return true
  return (
    error.origin === 'network' ||
    error.status === 503 ||
    error.status === 408 ||
    error.code === 'UNAUTHENTICATED' ||
    error.code === 'ROLE_REQUIRED'
  )
}

function findingsOf(error: unknown): FolderOutcome['findings'] {
  if (!(error instanceof RepertoireError)) return []
  return error.details
    .filter((detail) => detail.file !== undefined)
    .map((detail) => ({
      level: 'error',
      file: detail.file ?? '',
      line: detail.line ?? null,
      message: detail.message ?? error.message,
      fix: detail.fix ?? null,
    }))
}

function writable({ version, permission }: BundleDefaults): { version?: string; permission?: string[] } {
  return { ...(version === undefined ? {} : { version }), ...(permission === undefined ? {} : { permission: [...permission] }) }
}
