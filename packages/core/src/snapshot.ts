import { Map as ImmutableMap } from 'immutable'
import type {
  AgentRecord,
  ConnectionRecord,
  GrantRecord,
  Index,
  KeyRecord,
  QuotaRecord,
  RolloutRecord,
  SkillRecord,
  Snapshot,
  VersionRecord,
} from './records.ts'
import { groupBy } from './group-by.ts'
import { prepareMatches } from './match-ranges.ts'
import { nameKey } from './names.ts'
import { targetKey } from './quota.ts'
import { shareParts } from './share-parts.ts'

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

/** The rows that changed after some revision of an installation, up to `revision`. Removed rows come as tombstones. */
export type Changes = {
  readonly installId: string
  readonly epoch: number
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
  readonly quotas: readonly (QuotaRecord & { readonly removed: boolean })[]
}

/** A catalogue with nothing in it. */
export const emptySnapshot: Snapshot = {
  installId: '',
  epoch: 0,
  revision: 0,
  skills: indexed(),
  skillKeys: indexed(),
  ordered: [],
  agents: indexed(),
  keys: indexed(),
  requirements: indexed(),
  connections: indexed(),
  quotas: indexed(),
}

/**
 * The catalogue after some changes; the one before stays as it is, and shares with it whatever did not change. Changes that
 * are older than the catalogue, or of another installation, change nothing.
 */
export function applyChanges(before: Snapshot, changes: Changes): Snapshot {
  if (before.revision > 0 && changes.installId !== before.installId) return before
  if (changes.epoch < before.epoch || (changes.epoch === before.epoch && changes.revision <= before.revision)) return before
  return applyTo(changes.epoch > before.epoch ? emptySnapshot : before, changes)
}

function applyTo(before: Snapshot, changes: Changes): Snapshot {
  const { skills, skillKeys, touched } = applySkills(before, changes)
  return {
    installId: changes.installId,
    epoch: changes.epoch,
    revision: changes.revision,
    skills,
    skillKeys,
    ordered: reorder(before.ordered, touched),
    agents: applyAgents(before, changes),
    keys: changes.keys.reduce((keys, key) => keys.set(key.hash, key), mapOf(before.keys)),
    requirements: applyRequirements(before, changes),
    connections: applyConnections(before, changes),
    quotas: applyQuotas(before, changes),
  }
}

// The maps of a snapshot are persistent ones behind the narrow face of an index.
function indexed<V>(): Index<V> {
  return ImmutableMap<string, V>()
}

function mapOf<V>(index: Index<V>): ImmutableMap<string, V> {
  return ImmutableMap.isMap(index) ? (index as unknown as ImmutableMap<string, V>) : ImmutableMap(index)
}

type SkillsApplied = Pick<Snapshot, 'skills' | 'skillKeys'> & { readonly touched: readonly SkillRecord[] }

function applySkills(before: Snapshot, changes: Changes): SkillsApplied {
  const versions = groupBy(changes.versions, (row) => row.skillId)
  const lines = groupBy(changes.lines, (row) => row.skillId)
  const rollouts = groupBy(changes.rollouts, (row) => row.skillId)
  const rows = new Map(changes.skills.map((row) => [row.id, row]))
  const ids = new Set([...versions.keys(), ...lines.keys(), ...rollouts.keys(), ...rows.keys()])
  const touched: SkillRecord[] = []
  for (const id of ids) {
    const old = before.skills.get(before.skillKeys.get(id) ?? '')
    const row = rows.get(id) ?? old
    if (row === undefined) continue
    const parts = { versions: versions.get(id) ?? [], lines: lines.get(id) ?? [], rollouts: rollouts.get(id) ?? [] }
    touched.push(assembleSkill(row, old, parts))
  }
  return {
    touched,
    skills: mapOf(before.skills).withMutations((map) => touched.forEach((skill) => map.set(skill.key, skill))),
    skillKeys: mapOf(before.skillKeys).withMutations((map) => touched.forEach((skill) => map.set(skill.id, skill.key))),
  }
}

const byPosition = (a: SkillRecord, b: SkillRecord): number => a.position - b.position || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

// Few changes find their places by halving; a first load is sorted once.
function reorder(before: readonly SkillRecord[], touched: readonly SkillRecord[]): readonly SkillRecord[] {
  if (touched.length === 0) return before
  if (touched.length > 64) {
    const all = new Map([...before, ...touched].map((skill) => [skill.id, skill]))
    return [...all.values()].sort(byPosition)
  }
  const next = before.slice()
  for (const skill of touched) {
    let low = 0
    let high = next.length
    while (low < high) {
      const middle = (low + high) >> 1
      const there = next[middle]
      if (there !== undefined && byPosition(there, skill) < 0) low = middle + 1
      else high = middle
    }
    next.splice(low, next[low]?.id === skill.id ? 1 : 0, skill)
  }
  return next
}

type SkillParts = {
  readonly versions: readonly VersionRecord[]
  readonly lines: readonly LineRow[]
  readonly rollouts: readonly RolloutRecord[]
}

/** A skill after some of its rows changed; what a dry run resolves against is made the same way. */
export function assembleSkill(row: SkillRow, old: SkillRecord | undefined, parts: SkillParts): SkillRecord {
  const byVersion = new Map([
    ...(old?.byVersion ?? []),
    ...shareParts(parts.versions, old).map((version) => [version.version, version] as const),
  ])
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
  const active = [...rollouts.values()]
    .filter((rollout) => rollout.state === 'running' || rollout.state === 'paused' || rollout.state === 'scheduled')
    .sort((a, b) => byVersion.get(b.candidate)?.semver.compare(byVersion.get(a.candidate)?.semver ?? '0.0.0') ?? 0)
  const shown = versions.filter((version) => version.status === 'released' || version.status === 'deprecated')
  // What was withdrawn entirely is not what was never released: its refusals name the cause.
  const told = shown.length > 0 ? shown : versions.filter(wasReleased)
  const { served, servedKeys, exposed } = prepareMatches({ versions, byVersion, stable, rollouts: active })
  return {
    // What every resolution looks at lies together.
    served,
    servedKeys,
    exposed,
    id: row.id,
    name: row.name,
    key: nameKey(row.name),
    team: row.team,
    position: row.position,
    revision: row.revision,
    versions,
    byVersion,
    stable,
    rollouts: active,
    private: told.length === 0 || told.some((version) => version.manifest.private),
  }
}

function applyAgents(before: Snapshot, changes: Changes): Index<AgentRecord> {
  if (changes.agents.length === 0 && changes.grants.length === 0) return before.agents
  return mapOf(before.agents).withMutations((next) => {
    for (const row of changes.agents) next.set(row.id, { ...row, grants: next.get(row.id)?.grants ?? [] })
    for (const [agentId, changed] of groupBy(changes.grants, (grant) => grant.agentId)) {
      const agent = next.get(agentId)
      if (agent === undefined) continue
      const ids = new Set(changed.map((grant) => grant.id))
      const held = agent.grants.filter((grant) => !ids.has(grant.id))
      next.set(agentId, { ...agent, grants: [...held, ...changed.filter((grant) => !grant.removed)] })
    }
  })
}

function applyRequirements(before: Snapshot, changes: Changes): Snapshot['requirements'] {
  if (changes.requirements.length === 0) return before.requirements
  return mapOf(before.requirements).withMutations((next) => {
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
  })
}

function applyConnections(before: Snapshot, changes: Changes): Snapshot['connections'] {
  if (changes.connections.length === 0) return before.connections
  return mapOf(before.connections).withMutations((next) => {
    for (const { removed, ...connection } of changes.connections) {
      if (removed) next.delete(connection.name)
      else next.set(connection.name, connection)
    }
  })
}

// One that was removed may have been followed by another about the same, in the same changes.
function applyQuotas(before: Snapshot, changes: Changes): Snapshot['quotas'] {
  if (changes.quotas.length === 0) return before.quotas
  return mapOf(before.quotas).withMutations((next) => {
    for (const quota of changes.quotas) if (quota.removed && next.get(targetKey(quota))?.id === quota.id) next.delete(targetKey(quota))
    for (const { removed, ...quota } of changes.quotas) if (!removed) next.set(targetKey(quota), quota)
  })
}

/** Whether a version was released once, whatever became of it. */
export function wasReleased({ status, formerStatus }: Pick<VersionRecord, 'status' | 'formerStatus'>): boolean {
  const before = status === 'yanked' || status === 'blocked' ? formerStatus : status
  return before === 'released' || before === 'deprecated'
}
