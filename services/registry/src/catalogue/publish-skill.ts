import type { Finding, Published } from '@repertoire/contract'
import {
  checkBundle,
  hasRole,
  nameKey,
  Refusal,
  requireRole,
  type BundleCheck,
  type BundleDefaults,
  type BundleFiles,
  type Caller,
} from '@repertoire/core'
import type { Deps } from '../ports.ts'
import { checkProbe } from './check-probe.ts'
import { refuseFindings } from './manifest-refusal.ts'
import { storeVersion } from './store-version.ts'

/** A skill's files, and how they are to be published. */
export type PublishInput = {
  readonly files: BundleFiles
  readonly defaults: BundleDefaults
  readonly folder: string | undefined
  readonly dryRun: boolean
  readonly allowSimilarName: boolean
}

/** Publishes a version as a candidate: what anyone resolves stays as it is until somebody releases it. */
export async function publishSkill(deps: Deps, caller: Caller, input: PublishInput): Promise<Published> {
  requireRole(caller, 'publisher')
  if (input.allowSimilarName && !hasRole(caller, 'admin'))
    throw new Refusal('ROLE_REQUIRED', 'Only an admin may insist on a look-alike name.', { hint: 'choose another name' })
  const check = checkBundle({ files: input.files, defaults: input.defaults, folder: input.folder, folderMismatch: 'warning' })
  const findings: Finding[] = [
    ...check.findings,
    ...(check.toProve === undefined || isKnown(deps, check) ? [] : await deps.proveSchemas(check.toProve)),
  ]
  const { checked } = check
  if (checked === undefined || findings.some((finding) => finding.level === 'error'))
    throw refuseFindings('INVALID_MANIFEST', check.name, findings)
  findings.push(...checkProbe(deps, caller, checked.manifest))
  const stored = await deps.store.transaction(
    (tx) =>
      storeVersion(
        { deps, tx, caller },
        { checked, files: input.files, source: 'api', allowSimilarName: input.allowSimilarName, dryRun: input.dryRun },
      ),
    { line: nameKey(checked.manifest.name), lineMs: publishLineMs, deadlineMs: deadlineFor(input.files) },
  )
  return {
    name: checked.manifest.name,
    version: checked.manifest.version,
    status: stored.state?.status ?? 'candidate',
    digest: checked.digest,
    schema_digest: checked.schemaDigest,
    created: stored.created,
    report: { findings },
  }
}

// Many versions of one skill may arrive together, and large ones take their time.
const publishLineMs = 5000
const leastMs = 1500
const bytesPerMs = 8192

function deadlineFor(files: ReadonlyMap<string, Uint8Array>): number {
  return leastMs + [...files.values()].reduce((sum, bytes) => sum + bytes.byteLength, 0) / bytesPerMs
}

// The same bytes were proved when they were published.
function isKnown(deps: Deps, { checked }: BundleCheck): boolean {
  if (checked === undefined) return false
  return deps.snapshot().skills.get(nameKey(checked.manifest.name))?.byVersion.get(checked.manifest.version)?.digest === checked.digest
}
