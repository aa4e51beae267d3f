import type { Manifest, Role, VersionStatus } from '@repertoire/contract'
import type { SemVer } from 'semver'

/** What carries a version out; a playbook is instructions alone. */
export type ExecutorKind = 'http' | 'mcp' | 'code' | 'playbook'

/** One immutable publication, with its mutable status. */
export type VersionRecord = {
  readonly id: string
  readonly skillId: string
  readonly version: string
  readonly semver: SemVer
  readonly line: string
  readonly status: VersionStatus
  /** What it was before it was yanked: a yanked candidate never was released. */
  readonly formerStatus: VersionStatus | null
  readonly statusReason: string | null
  readonly statusChangedAt: string
  readonly replacement: string | null
  readonly sunsetAt: string | null
  readonly digest: string
  readonly schemaDigest: string
  readonly inputSchema: string
  readonly outputSchema: string | null
  readonly manifest: Manifest
  readonly extra: Readonly<Record<string, unknown>>
  readonly defaults: Readonly<Record<string, unknown>>
  readonly instructions: string
  readonly kind: ExecutorKind
  readonly entry: string | null
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly digest: string }[]
  readonly source: 'folder' | 'api'
  readonly publishedBy: string
  readonly publisherTeam: string | null
  readonly publishedAt: string
}

/** Where a rollout stands. */
export type RolloutState = 'scheduled' | 'running' | 'paused' | 'promoted' | 'rolled_back' | 'cancelled'

/** What a rollout randomises over. */
export type UnitKind = 'agent' | 'session' | 'tenant' | 'call'

/** Why a rollout stands still: a person paused it, the ground moved under its automation, or a rollback elsewhere holds it. */
export type PausedReason = 'manual' | 'conflict' | 'held'

/** One step of a scheduled rollout: the share it exposes, and how long that stays before the next step. */
export type RolloutStep = { readonly basisPoints: number; readonly dwellMs: number }

/** A line's traffic plan for one candidate. Times are RFC 3339, UTC. */
export type RolloutRecord = {
  readonly id: string
  readonly skillId: string
  readonly line: string
  readonly candidate: string
  /** What the line served when this began; once promoted, what it replaced. */
  readonly previousStable: string | null
  readonly state: RolloutState
  readonly pausedReason: PausedReason | null
  readonly pausedNote: string | null
  readonly basisPoints: number
  /** The share that automation believes in; another one means that somebody changed it by hand. */
  readonly agreedBasisPoints: number
  readonly unit: UnitKind
  readonly salt: string
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly steps: readonly RolloutStep[]
  /** The step in force; -1 before the first. */
  readonly stepIndex: number
  readonly stepAt: string | null
  readonly startAt: string | null
  /** When it first exposed anybody; null means nobody yet, whatever its percentage. */
  readonly startedAt: string | null
  readonly reason: string
  readonly createdBy: string
  readonly createdAt: string
  readonly updatedAt: string
  readonly endedAt: string | null
}

/** A candidate that a rollout exposes. */
export type Contender = { readonly rollout: RolloutRecord; readonly candidate: VersionRecord }

/** A skill with all its versions; `versions` is sorted, newest first. */
export type SkillRecord = {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly team: string | null
  readonly position: number
  readonly revision: number
  readonly versions: readonly VersionRecord[]
  readonly byVersion: ReadonlyMap<string, VersionRecord>
  readonly stable: ReadonlyMap<string, VersionRecord>
  /** What ranges may choose, newest first; and the key of each, which orders them. */
  readonly served: readonly VersionRecord[]
  readonly servedKeys: readonly number[]
  /** What rollouts expose now, newest first. */
  readonly exposed: readonly Contender[]
  readonly rollouts: readonly RolloutRecord[]
  /** Whether it answers like an absent skill to those who may not call it. */
  readonly private: boolean
}

/** A grant or a denial of a tag pattern. */
export type GrantRecord = {
  readonly id: string
  readonly agentId: string
  readonly pattern: string
  readonly deny: boolean
  readonly expiresAt: number | null
}

/** A registered client. */
export type AgentRecord = {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly team: string | null
  readonly tenant: string | null
  readonly domains: readonly string[]
  readonly disabled: boolean
  readonly grants: readonly GrantRecord[]
}

/** A key, found by the SHA-256 of its text. Times are milliseconds since 1970. */
export type KeyRecord = {
  readonly id: string
  readonly agentId: string
  readonly hash: string
  readonly expiresAt: number | null
  readonly revoked: boolean
  /** Whether another key takes its place. */
  readonly rotated: boolean
}

/** Where a credential of a connection lies. */
export type CredentialRef = { readonly env: string } | { readonly file: string }

/** An operator's named base URL. */
export type ConnectionRecord = {
  readonly name: string
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, CredentialRef>>
  readonly createdAt: string
}

/** A limit on calls of an agent, of a skill, of an agent to a skill, or over a connection; null where there is none. */
export type QuotaRecord = {
  readonly id: string
  readonly agentId: string | null
  readonly skillKey: string | null
  readonly connection: string | null
  readonly perMinute: number | null
  readonly perDay: number | null
}

/** What the catalogue is looked up in: maps that share what did not change from one revision to the next. */
export type Index<V> = {
  readonly size: number
  readonly get: (key: string) => V | undefined
  readonly has: (key: string) => boolean
  readonly values: () => Iterable<V>
  readonly [Symbol.iterator]: () => Iterator<[string, V]>
}

/** The immutable catalogue at one revision of one installation; a restored backup raises its epoch. */
export type Snapshot = {
  readonly installId: string
  readonly epoch: number
  readonly revision: number
  /** By the skill's key. */
  readonly skills: Index<SkillRecord>
  readonly skillKeys: Index<string>
  readonly ordered: readonly SkillRecord[]
  readonly agents: Index<AgentRecord>
  /** By the SHA-256 of the key's text. */
  readonly keys: Index<KeyRecord>
  /** By agent, then instance, then the skill's key: the declared range. */
  readonly requirements: Index<ReadonlyMap<string, ReadonlyMap<string, string>>>
  readonly connections: Index<ConnectionRecord>
  /** By what each is about. */
  readonly quotas: Index<QuotaRecord>
}
