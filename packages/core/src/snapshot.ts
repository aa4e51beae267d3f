import type {
  AgentRecord,
  ConnectionRecord,
  GrantRecord,
  KeyRecord,
  RolloutRecord,
  SkillRecord,
  Snapshot,
  VersionRecord,
} from './records.ts'
import { groupBy } from './group-by.ts'
import { nameKey } from './names.ts'

/** A skill's own row. */
export type SkillRow = {
  readonly id: string
  readonly name: string
  readonly team: string | null
  readonly position: number
  readonly revision: number
}

/** A line's stable pointer. */
export type LineRow = { readonly skillId: string; readonly line: string; readonly stable: string | null }

/** A declared range; null once it was taken back. */
export type RequirementRow = { readonly agentId: string; readonly instance: string; readonly key: string; readonly range: string | null }

/** The rows that changed after some revision, up to `revision`. Removed rows come as tombstones. */
export type Changes = {
  readonly revision: number
  readonly skills: readonly SkillRow[]
  readonly versions: readonly VersionRecord[]
  readonly lines: readonly LineRow[]
  readonly rollouts: readonly RolloutRecord[]
  readonly agents: readonly Omit<AgentRecord, 'grants'>[]
  readonly keys: readonly KeyRecord[]
  readonly grants: readonly (GrantRecord & { readonly removed: boolean })[]
  readonly requirements: readonly RequirementRow[]
  readonly connections: readonly (ConnectionRecord & { readonly removed: boolean })[]
}

/** A catalogue with nothing in it. */
export const emptySnapshot: Snapshot = {
  revision: 0,
  skills: new Map(),
  ordered: [],
  agents: new Map(),
  keys: new Map(),
  requirements: new Map(),
  connections: new Map(),
}

/** The catalogue after some changes; the one before stays as it is. A change older than the catalogue changes nothing. */
export function applyChanges(before: Snapshot, changes: Changes): Snapshot {
  if (changes.revision <= before.revision) return before
  const skills = applySkills(before, changes)
  const touched = changes.skills.length + changes.versions.length + changes.lines.length + changes.rollouts.length > 0
  return {
    revision: changes.revision,
    skills,
    ordered: touched ? [...skills.values()].sort((a, b) => a.position - b.position || (a.name < b.name ? -1 : 1)) : before.ordered,
    agents: applyAgents(before, changes),
    keys: changes.keys.length === 0 ? before.keys : new Map([...before.keys, ...changes.keys.map((key) => [key.hash, key] as const)]),
    requirements: applyRequirements(before, changes),
    connections: applyConnections(before, changes),
  }
}

function applySkills(before: Snapshot, changes: Changes): ReadonlyMap<string, SkillRecord> {
  const versions = groupBy(changes.versions, (row) => row.skillId)
  const lines = groupBy(changes.lines, (row) => row.skillId)
  const rollouts = groupBy(changes.rollouts, (row) => row.skillId)
  const rows = new Map(changes.skills.map((row) => [row.id, row]))
  const ids = new Set([...versions.keys(), ...lines.keys(), ...rollouts.keys(), ...rows.keys()])
  if (ids.size === 0) return before.skills
  const next = new Map(before.skills)
  const known = new Map([...before.skills.values()].filter((skill) => ids.has(skill.id)).map((skill) => [skill.id, skill]))
  for (const id of ids) {
    const old = known.get(id)
    const row = rows.get(id) ?? old
    if (row === undefined) continue
    const skill = assembleSkill(row, old, {
      versions: versions.get(id) ?? [],
      lines: lines.get(id) ?? [],
      rollouts: rollouts.get(id) ?? [],
      revision: changes.revision,
    })
    next.set(skill.key, skill)
  }
  return next
}

type SkillParts = {
  readonly versions: readonly VersionRecord[]
  readonly lines: readonly LineRow[]
  readonly rollouts: readonly RolloutRecord[]
  readonly revision: number
}

function assembleSkill(row: SkillRow, old: SkillRecord | undefined, parts: SkillParts): SkillRecord {
  const byVersion = new Map([...(old?.byVersion ?? []), ...parts.versions.map((version) => [version.version, version] as const)])
  const versions = [...byVersion.values()].sort((a, b) => b.semver.compare(a.semver))
  const pointers = new Map([...(old?.stable ?? [])].map(([line, version]) => [line, version.version]))
  for (const line of parts.lines) {
    if (line.stable === null) pointers.delete(line.line)
    else pointers.set(line.line, line.stable)
  }
  const stable = new Map<string, VersionRecord>()
  for (const [line, version] of pointers) {
    const record = byVersion.get(version)
    if (record !== undefined) stable.set(line, record)
  }
  const rollouts = new Map([...(old?.rollouts ?? []), ...parts.rollouts].map((rollout) => [rollout.id, rollout]))
  const active = [...rollouts.values()].filter(
    (rollout) => rollout.state === 'running' || rollout.state === 'paused' || rollout.state === 'scheduled',
  )
  const shown = versions.filter((version) => version.status === 'released' || version.status === 'deprecated')
  return {
    id: row.id,
    name: row.name,
    key: nameKey(row.name),
    team: row.team,
    position: row.position,
    revision: parts.revision,
    versions,
    byVersion,
    stable,
    rollouts: active.sort((a, b) => byVersion.get(b.candidate)?.semver.compare(byVersion.get(a.candidate)?.semver ?? '0.0.0') ?? 0),
    private: shown.length === 0 || shown.some((version) => version.manifest.private),
  }
}

function applyAgents(before: Snapshot, changes: Changes): ReadonlyMap<string, AgentRecord> {
  if (changes.agents.length === 0 && changes.grants.length === 0) return before.agents
  const next = new Map(before.agents)
  for (const row of changes.agents) next.set(row.id, { ...row, grants: next.get(row.id)?.grants ?? [] })
  for (const [agentId, changed] of groupBy(changes.grants, (grant) => grant.agentId)) {
    const agent = next.get(agentId)
    if (agent === undefined) continue
    const ids = new Set(changed.map((grant) => grant.id))
    next.set(agentId, {
      ...agent,
      grants: [...agent.grants.filter((grant) => !ids.has(grant.id)), ...changed.filter((grant) => !grant.removed)],
    })
  }
  return next
}

function applyRequirements(before: Snapshot, changes: Changes): Snapshot['requirements'] {
  if (changes.requirements.length === 0) return before.requirements
  const next = new Map(before.requirements)
  for (const [agentId, rows] of groupBy(changes.requirements, (row) => row.agentId)) {
    const instances = new Map(next.get(agentId) ?? [])
    for (const [instance, declared] of groupBy(rows, (row) => row.instance)) {
      const ranges = new Map(instances.get(instance) ?? [])
      for (const row of declared) {
        if (row.range === null) ranges.delete(row.key)
        else ranges.set(row.key, row.range)
      }
      instances.set(instance, ranges)
    }
    next.set(agentId, instances)
  }
  return next
}

function applyConnections(before: Snapshot, changes: Changes): Snapshot['connections'] {
  if (changes.connections.length === 0) return before.connections
  const next = new Map(before.connections)
  for (const { removed, ...connection } of changes.connections) {
    if (removed) next.delete(connection.name)
    else next.set(connection.name, connection)
  }
  return next
}
