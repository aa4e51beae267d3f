import {
  checkCompatibility,
  lookAlikeKey,
  nameKey,
  parseExact,
  Refusal,
  seesEverything,
  type Caller,
  type CheckedBundle,
  type StatusChange,
} from '@repertoire/core'
import type { Deps, Transaction } from '../ports.ts'
import type { VersionState } from '../stored.ts'
import { refuseFindings } from './manifest-refusal.ts'

/** Who writes, in which transaction. */
export type Writing = { readonly deps: Deps; readonly tx: Transaction; readonly caller: Caller }

/** A checked and proved bundle on its way into the catalogue. */
export type VersionToStore = {
  readonly checked: CheckedBundle
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly source: 'folder' | 'api'
  readonly allowSimilarName: boolean
  readonly dryRun: boolean
}

/** What became of it: stored now, or there already with the same bytes. */
export type StoredVersion = {
  readonly created: boolean
  readonly state: Pick<VersionState, 'id' | 'version' | 'status' | 'digest' | 'schemaDigest' | 'line'> | undefined
}

/** Stores one version inside a transaction: the same bytes again change nothing, other bytes are refused. */
export async function storeVersion(
  { deps, tx, caller }: Writing,
  { checked, files, source, allowSimilarName, dryRun }: VersionToStore,
): Promise<StoredVersion> {
  const { name, version } = checked.manifest
  const skill = await tx.skills.lock(nameKey(name))
  if (skill !== undefined && caller.role === 'publisher' && (skill.team === null || skill.team !== caller.team)) {
    throw new Refusal('ROLE_REQUIRED', `The name ${name} is not one that ${caller.id} may publish under.`, {
      hint: 'choose another name, or ask the team that owns it',
    })
  }
  const existing = skill === undefined ? undefined : await tx.versions.find(skill.id, version)
  if (skill !== undefined && existing !== undefined) {
    if (existing.digest !== checked.digest) {
      throw new Refusal('VERSION_EXISTS', `${name} ${version} was published with other bytes, and a published version never changes.`, {
        hint: 'raise the version number and publish again',
        details: [{ path: '/digest', expected: existing.digest, got: checked.digest }],
      })
    }
    if (source === 'folder' && existing.source === 'api' && !dryRun) await tx.versions.adopt(existing.id)
    return { created: false, state: existing }
  }
  if (skill === undefined) await refuseLookAlike(tx, name, { allowed: allowSimilarName, mayKnow: seesEverything(caller) })
  else await refuseBreak(tx, skill.id, checked)
  if (dryRun) return { created: true, state: undefined }

  const at = deps.clock.now()
  const skillId = skill?.id ?? deps.ids.next()
  const id = deps.ids.next()
  if (skill === undefined) await tx.skills.insert({ id: skillId, name, team: caller.team, at })
  await tx.versions.insert({ id, skillId, checked, files, source, publishedBy: caller.id, publisherTeam: caller.team, at })
  await tx.audit.append({
    caller,
    action: 'version.publish',
    subject: `${name}@${version}`,
    skill: skill?.name ?? name,
    change: { versions: [published(version, at)], lines: [], rollouts: [] },
    after: { digest: checked.digest, schema_digest: checked.schemaDigest, source, defaults: checked.usedDefaults },
    at,
  })
  const state = await tx.versions.find(skillId, version)
  return { created: true, state }
}

function published(version: string, at: Date): StatusChange {
  const statusChangedAt = at.toISOString()
  return { version, statusChangedAt, status: 'candidate', formerStatus: null, statusReason: null, replacement: null, sunsetAt: null }
}

async function refuseLookAlike(
  tx: Transaction,
  name: string,
  { allowed, mayKnow }: { readonly allowed: boolean; readonly mayKnow: boolean },
): Promise<void> {
  if (allowed) return
  const twins = (await tx.skills.lookAlikes(lookAlikeKey(name))).filter((twin) => nameKey(twin) !== nameKey(name))
  if (twins.length === 0) return
  const twin = mayKnow ? `the existing skill ${twins[0]}` : 'an existing skill'
  throw new Refusal('NAME_TOO_SIMILAR', `${name} looks like ${twin}.`, {
    hint: 'choose another name; an admin may insist with allow_similar_name=true',
  })
}

async function refuseBreak(tx: Transaction, skillId: string, checked: CheckedBundle): Promise<void> {
  const semver = parseExact(checked.manifest.version)
  if (semver === undefined) return
  const findings = checkCompatibility(
    { semver, inputSchema: checked.inputSchema, outputSchema: checked.outputSchema },
    await tx.versions.schemasOf(skillId),
  )
  if (findings.length > 0) throw refuseFindings('INCOMPATIBLE_SCHEMA', `${checked.manifest.name} ${checked.manifest.version}`, findings)
}
