import { groupBy, parseExact, type Changes, type VersionRecord } from '@repertoire/core'
import { gt, inArray } from 'drizzle-orm'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { agents, connections, grants, keys, requirements } from './tables/access.ts'
import { lines, rollouts, skills, versionFiles, versions } from './tables/catalogue.ts'
import { installation } from './tables/installation.ts'

/** Every row that changed after a revision, as of one moment; undefined when nothing did. */
export async function loadChanges(db: Drizzle, since: number): Promise<Changes | undefined> {
  return db.transaction(
    async (tx) => {
      const revision = (await tx.select({ revision: installation.revision }).from(installation))[0]?.revision ?? 0
      if (revision <= since) return undefined
      return {
        revision,
        skills: await tx
          .select({ id: skills.id, name: skills.name, team: skills.team, position: skills.position, revision: skills.revision })
          .from(skills)
          .where(gt(skills.revision, since)),
        versions: await loadVersions(tx, since),
        lines: await tx
          .select({ skillId: lines.skillId, line: lines.line, stable: lines.stable })
          .from(lines)
          .where(gt(lines.revision, since)),
        rollouts: (await tx.select().from(rollouts).where(gt(rollouts.revision, since))).map((row) => ({
          ...row,
          createdAt: row.createdAt.toISOString(),
        })),
        agents: await tx
          .select({
            id: agents.id,
            name: agents.name,
            role: agents.role,
            team: agents.team,
            tenant: agents.tenant,
            domains: agents.domains,
            disabled: agents.disabled,
          })
          .from(agents)
          .where(gt(agents.revision, since)),
        keys: (await tx.select().from(keys).where(gt(keys.revision, since))).map((row) => ({
          id: row.id,
          agentId: row.agentId,
          hash: row.hash,
          expiresAt: row.expiresAt?.getTime() ?? null,
          revoked: row.revokedAt !== null,
        })),
        grants: (await tx.select().from(grants).where(gt(grants.revision, since))).map((row) => ({
          id: row.id,
          agentId: row.agentId,
          pattern: row.pattern,
          deny: row.deny,
          expiresAt: row.expiresAt?.getTime() ?? null,
          removed: row.removedAt !== null,
        })),
        requirements: (await tx.select().from(requirements).where(gt(requirements.revision, since))).map((row) => ({
          agentId: row.agentId,
          instance: row.instance,
          key: row.skillKey,
          range: row.range,
        })),
        connections: (await tx.select().from(connections).where(gt(connections.revision, since))).map((row) => ({
          name: row.name,
          baseUrl: row.baseUrl,
          headers: row.headers,
          createdAt: row.createdAt.toISOString(),
          removed: row.removedAt !== null,
        })),
      }
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

async function loadVersions(tx: DrizzleTx, since: number): Promise<VersionRecord[]> {
  const rows = await tx.select().from(versions).where(gt(versions.revision, since))
  if (rows.length === 0) return []
  // A first load wants the files of all versions; naming each id would exceed what one statement takes.
  const few =
    rows.length <= 1000
      ? inArray(
          versionFiles.versionId,
          rows.map((row) => row.id),
        )
      : undefined
  const files = groupBy(await tx.select().from(versionFiles).where(few), (file) => file.versionId)
  return rows.flatMap((row) => {
    const semver = parseExact(row.version)
    if (semver === undefined) return []
    return [
      {
        id: row.id,
        skillId: row.skillId,
        version: row.version,
        semver,
        line: row.line,
        status: row.status,
        formerStatus: row.formerStatus,
        statusReason: row.statusReason,
        replacement: row.replacement,
        sunsetAt: row.sunsetAt?.toISOString() ?? null,
        digest: row.digest,
        schemaDigest: row.schemaDigest,
        inputSchema: row.inputSchema,
        outputSchema: row.outputSchema,
        manifest: row.manifest,
        extra: row.extra,
        defaults: row.defaults,
        instructions: row.instructions,
        kind: row.kind,
        entry: row.entry,
        files: (files.get(row.id) ?? [])
          .map(({ path, bytes, digest }) => ({ path, bytes, digest }))
          .sort((a, b) => (a.path < b.path ? -1 : 1)),
        source: row.source,
        publishedBy: row.publishedBy,
        publisherTeam: row.publisherTeam,
        publishedAt: row.publishedAt.toISOString(),
      },
    ]
  })
}
