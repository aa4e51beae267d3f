import { groupBy, parseExact, type Changes, type RolloutRecord, type Snapshot, type VersionRecord } from '@repertoire/core'
import { and, gt, inArray, sql } from 'drizzle-orm'
import type { Drizzle, DrizzleTx } from './connect.ts'
import { agents, connections, grants, keys, quotas, requirements } from './tables/access.ts'
import { rolloutOf } from './rollouts.ts'
import { lines, rollouts, skills, versionFiles, versions } from './tables/catalogue.ts'
import { installation } from './tables/installation.ts'

/** What the database holds that a catalogue does not, and the database's own time. */
export type Loaded = {
  readonly changes: Changes | undefined
  /** The database is behind what is held: a backup was restored, and nothing that is held can be built upon. */
  readonly isRestored: boolean
  readonly at: Date
}

/** Every row that changed since a catalogue, as of one moment; no changes when nothing did. */
export async function loadChanges(
  db: Drizzle,
  held: Pick<Snapshot, 'installId' | 'epoch' | 'revision'>,
  alive: () => void,
): Promise<Loaded> {
  return db.transaction(
    async (tx) => {
      const [now] = await tx
        .select({
          installId: installation.installId,
          epoch: installation.epoch,
          revision: installation.revision,
          at: sql<string>`clock_timestamp()`,
        })
        .from(installation)
      if (now === undefined) throw new Error('the installation row is missing')
      if (held.revision > 0 && now.installId !== held.installId) throw new OtherInstallation(held.installId, now.installId)
      alive()
      const { at: dbTime, ...identity } = now
      const at = new Date(dbTime)
      const isRestored = held.revision > 0 && now.epoch === held.epoch && now.revision < held.revision
      // A restored backup counts its revisions anew: nothing that is held can be built upon.
      const since = now.epoch === held.epoch && !isRestored ? held.revision : 0
      if (!isRestored && now.epoch === held.epoch && now.revision === since) return { changes: undefined, isRestored, at }
      const changes = {
        ...identity,
        skills: await tx
          .select({ id: skills.id, name: skills.name, team: skills.team, position: skills.position, revision: skills.revision })
          .from(skills)
          .where(gt(skills.revision, since)),
        versions: await loadVersions(tx, since).finally(alive),
        lines: await tx
          .select({ skillId: lines.skillId, line: lines.line, stable: lines.stable })
          .from(lines)
          .where(gt(lines.revision, since)),
        rollouts: await loadRollouts(tx, since),
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
          rotated: row.rotatedTo !== null,
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
        quotas: await loadQuotas(tx, since),
      }
      return { changes, isRestored, at }
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  )
}

/** A database that is not the one a catalogue came from. */
export class OtherInstallation extends Error {
  constructor(held: string, found: string) {
    super(`the database belongs to installation ${found}, and what this replica holds to ${held}`)
  }
}

async function loadQuotas(tx: DrizzleTx, since: number): Promise<Changes['quotas']> {
  const rows = await tx.select().from(quotas).where(gt(quotas.revision, since))
  return rows.map(({ id, agentId, skillKey, connection, perMinute, perDay, removedAt }) => ({
    id,
    agentId,
    skillKey,
    connection,
    perMinute,
    perDay,
    removed: removedAt !== null,
  }))
}

// Rollouts that have ended matter to a catalogue that held them; to a first load they do not.
async function loadRollouts(tx: DrizzleTx, since: number): Promise<RolloutRecord[]> {
  const active = since === 0 ? inArray(rollouts.state, ['scheduled', 'running', 'paused']) : undefined
  const rows = await tx
    .select()
    .from(rollouts)
    .where(and(gt(rollouts.revision, since), active))
  return rows.map(rolloutOf)
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
        statusChangedAt: row.statusChangedAt.toISOString(),
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
