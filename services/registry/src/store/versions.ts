import { digestOf, lineOf, parseExact } from '@repertoire/core'
import { and, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../ports.ts'
import type { NewVersion } from '../stored.ts'
import type { DrizzleTx } from './connect.ts'
import { blobs, skills, versionFiles, versions } from './tables/catalogue.ts'

const state = {
  id: versions.id,
  version: versions.version,
  status: versions.status,
  digest: versions.digest,
  schemaDigest: versions.schemaDigest,
  line: versions.line,
  source: versions.source,
}

/** Versions inside a transaction. */
export function versionsIn(tx: DrizzleTx, revision: () => Promise<number>): Transaction['versions'] {
  return {
    find: async (skillId, version) =>
      (
        await tx
          .select(state)
          .from(versions)
          .where(and(eq(versions.skillId, skillId), eq(versions.version, version)))
      )[0],
    schemasOf: async (skillId) => {
      const rows = await tx
        .select({ version: versions.version, inputSchema: versions.inputSchema, outputSchema: versions.outputSchema })
        .from(versions)
        .where(and(eq(versions.skillId, skillId), sql`${versions.status} not in ('yanked', 'blocked')`))
      return rows.flatMap(({ version, ...schemas }) => {
        const semver = parseExact(version)
        return semver === undefined ? [] : [{ semver, ...schemas }]
      })
    },
    insert: async (version) => insertVersion(tx, version, await revision()),
    adopt: async (id) => {
      const at = await revision()
      const [adopted] = await tx
        .update(versions)
        .set({ source: 'folder', revision: at })
        .where(eq(versions.id, id))
        .returning({ skillId: versions.skillId })
      if (adopted !== undefined) await tx.update(skills).set({ revision: at }).where(eq(skills.id, adopted.skillId))
    },
  }
}

async function insertVersion(
  tx: DrizzleTx,
  { id, skillId, checked, files, source, publishedBy, publisherTeam, at }: NewVersion,
  revision: number,
): Promise<void> {
  const semver = parseExact(checked.manifest.version)
  if (semver === undefined) throw new TypeError('a checked manifest has a canonical version')
  await tx.insert(versions).values({
    id,
    skillId,
    source,
    publishedBy,
    publisherTeam,
    revision,
    version: semver.version,
    major: semver.major,
    minor: semver.minor,
    patch: semver.patch,
    prerelease: semver.prerelease.length === 0 ? null : semver.prerelease.join('.'),
    line: lineOf(semver),
    status: 'candidate',
    statusChangedAt: at,
    digest: checked.digest,
    schemaDigest: checked.schemaDigest,
    inputSchema: checked.inputSchema,
    outputSchema: checked.outputSchema,
    manifest: checked.manifest,
    extra: checked.extra,
    defaults: { ...checked.usedDefaults },
    instructions: checked.instructions,
    kind: checked.kind,
    entry: checked.entry,
    publishedAt: at,
  })
  const rows = [...files].map(([path, bytes]) => ({ path, content: Buffer.from(bytes), digest: digestOf(bytes), bytes: bytes.byteLength }))
  for (const row of rows)
    await tx.insert(blobs).values({ digest: row.digest, bytes: row.bytes, content: row.content }).onConflictDoNothing()
  await tx.insert(versionFiles).values(rows.map(({ path, digest, bytes }) => ({ versionId: id, path, digest, bytes })))
  await tx.update(skills).set({ revision }).where(eq(skills.id, skillId))
}
